/** Releases or denies a held payout, with what the decision needs beside its consequence. */
import { type ReactNode, useState } from 'react';
import type { Account, Payout, PayoutDecisionReason, Program, ProgramLimitsList } from '../../../api/api-types.ts';
import { useChange, useRead } from '../../../api/use-read.ts';
import { Facts } from '../../../kit/facts.tsx';
import { TextField } from '../../../kit/field.tsx';
import { money } from '../../../kit/format.ts';
import { Id } from '../../../kit/id.tsx';
import { Status } from '../../../kit/status.tsx';
import { ConfirmItemDialog } from '../../layout/confirm-item-dialog.tsx';
import { concernsOf } from './concerns.ts';
import { PAYOUT_FACTS } from './facts.ts';
import { explainReason } from './reasons.ts';

export type Verb = 'release' | 'deny';

interface DecisionProps {
  readonly payout: Payout;
  readonly verb: Verb;
  readonly onClose: () => void;
}

export function Decision({ payout, verb, onClose }: DecisionProps): ReactNode {
  const [reason, setReason] = useState('');
  const change = useChange<Payout>('post', `/payouts/${payout.award_id}/${verb}`, AFFECTS);
  const isDenial = verb === 'deny';
  const isIncomplete = isDenial && reason.trim() === '';
  const decide = async () => {
    const given = reason.trim();
    const body: PayoutDecisionReason = given === '' ? {} : { reason: given };
    if ((await change.run(body)) !== undefined) onClose();
  };
  return (
    <ConfirmItemDialog
      item={{
        path: `/payouts/${payout.award_id}`,
        shown: payout,
        facts: PAYOUT_FACTS,
        subjects: [],
        affects: AFFECTS,
      }}
      allows={({ status }) => status === 'held'}
      title={`${isDenial ? 'Deny' : 'Release'} ${money(payout.amount)}?`}
      consequence={isDenial ? DENIAL : releaseOf(payout)}
      confirm={isDenial ? 'Deny' : 'Release'}
      tone={isDenial ? 'danger' : 'primary'}
      isBusy={change.isRunning || isIncomplete}
      failure={change.failure}
      onConfirm={() => void decide()}
      onClose={onClose}
    >
      <Background payout={payout} />
      <TextField
        label={isDenial ? 'Reason' : 'Reason, if there is one'}
        hint="Kept with the payout, for operators only."
        rows={2}
        maxLength={1_000}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
    </ConfirmItemDialog>
  );
}

const AFFECTS = ['/payouts', '/actions'] as const;

const DENIAL =
  'No money moves, now or later, and the prize stays claimed. The partner still sees the payout as held. The decision is final.';

function releaseOf({ amount, environment }: Payout): string {
  const kind = environment === 'live' ? 'real money' : 'play money of the sandbox';
  return `The player has ${money(amount)} of ${kind} at once, and the partner gets award.released. The decision is final.`;
}

function Background({ payout }: { readonly payout: Payout }): ReactNode {
  const account = useRead<Account>(`/accounts/${payout.account_id}`);
  const program = useRead<Program>(`/programs/${payout.program_id}`);
  const limits = useRead<ProgramLimitsList>(`/programs/${payout.program_id}/limits`);
  const own =
    limits.state === 'loaded'
      ? limits.data.data.find(({ environment }) => environment === payout.environment)
      : undefined;
  return (
    <Facts
      items={[
        { label: 'Why it is held', value: payout.reason === null ? '–' : explainReason(payout.reason) },
        { label: 'Account', value: account.state === 'loaded' ? account.data.email : '…' },
        {
          label: 'What is known of it',
          value: account.state === 'loaded' ? <Concerns account={account.data} /> : '…',
        },
        {
          label: 'Program',
          value: `${program.state === 'loaded' ? program.data.name : '…'}, ${payout.environment}`,
        },
        {
          label: 'Paid by it in 24 hours',
          value:
            own === undefined
              ? '…'
              : `${money(own.paid)} of ${own.payout_limit === null ? 'no limit' : money(own.payout_limit)}`,
        },
        payout.attempt_id === null
          ? { label: 'Round', value: <Id value={payout.round_id ?? ''} what="round" /> }
          : { label: 'Attempt', value: <Id value={payout.attempt_id} what="attempt" /> },
      ]}
    />
  );
}

function Concerns({ account }: { readonly account: Account }): ReactNode {
  const concerns = concernsOf(account, new Date());
  if (concerns.length === 0) return <>verification level {account.verification_level}, no flags</>;
  return (
    <>
      {concerns.map((concern) => (
        <Status key={concern} value={concern} tone="bad" />
      ))}
    </>
  );
}
