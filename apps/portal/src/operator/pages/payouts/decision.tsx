/** Releases or denies a held payout. */
import { type ReactNode, useState } from 'react';
import type { DescribedPayout, Payout, PayoutDecisionReason } from '../../../api/api-types.ts';
import { useChange, useRead } from '../../../api/use-read.ts';
import { Facts } from '../../../kit/facts.tsx';
import { TextField } from '../../../kit/field.tsx';
import { money } from '../../../kit/format.ts';
import type { Fact } from '../../layout/changes-since.ts';
import { ConfirmItemDialog } from '../../layout/confirm-item-dialog.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { AccountFlags } from '../accounts/concerns-view.tsx';
import { consequenceOf, type DecisionVerb } from './consequences.ts';
import { dayLimitsOf } from './day-limits.ts';
import { explainReason } from './reasons.ts';

interface DecisionProps<P extends Payout> {
  readonly payout: P;
  /** The facts about the payout that the page shows. */
  readonly facts: readonly Fact<P>[];
  readonly verb: DecisionVerb;
  readonly onClose: () => void;
  /** Facts that the decision needs and the page does not show. */
  readonly children?: ReactNode;
}

/** A decision also changes the history of an attempt and the row of a round's standings. */
const AFFECTS = ['/payouts', '/attempts', '/rounds', '/actions'] as const;

export function Decision<P extends Payout>({ payout, facts, verb, onClose, children }: DecisionProps<P>): ReactNode {
  const [reason, setReason] = useState('');
  const path = `/payouts/${payout.award_id}`;
  const change = useChange<Payout>('post', `${path}/${verb}`, AFFECTS);
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
        path,
        shown: payout,
        facts,
        subjects: [{ name: `account:${payout.account_id}`, asItem: (account) => ({ account }) }],
        affects: AFFECTS,
      }}
      allows={({ status }) => status === 'held'}
      title={`${isDenial ? 'Deny' : 'Release'} ${money(payout.amount)}?`}
      consequence={consequenceOf(verb, payout)}
      confirm={isDenial ? 'Deny' : 'Release'}
      tone={isDenial ? 'danger' : 'primary'}
      isBusy={change.isRunning || isIncomplete}
      failure={change.failure}
      onConfirm={() => void decide()}
      onClose={onClose}
    >
      {children}
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

/** Shows an operator who decides from the list why a payout is held. */
export function PayoutBackground({ payout }: { readonly payout: Payout }): ReactNode {
  const reading = useRead<DescribedPayout>(`/payouts/${payout.award_id}`);
  const described = reading.state === 'loaded' ? reading.data : undefined;
  const limits = described === undefined ? [] : dayLimitsOf(described);
  return (
    <Facts
      items={[
        { label: 'Why it is held', value: payout.reason === null ? '–' : explainReason(payout.reason) },
        { label: 'Environment', value: <EnvironmentBadge value={payout.environment} /> },
        { label: 'Account', value: described?.account.email ?? '…' },
        {
          label: 'What is known of it',
          value: described === undefined ? '…' : <AccountFlags account={described.account} />,
        },
        ...limits.map(({ what, paid, limit }) => ({ label: `${what}, in 24 hours`, value: `${paid} of ${limit}` })),
      ]}
    />
  );
}
