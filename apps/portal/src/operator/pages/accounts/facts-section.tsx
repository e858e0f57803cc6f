/** The facts that decide whether the player may pay, and whether prizes are held. */
import { type ReactNode, useMemo, useState } from 'react';
import type { Account } from '../../../api/api-types.ts';
import { Button } from '../../../kit/button.tsx';
import { Money } from '../../../kit/money.tsx';
import { Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { AccountDialog } from './account-dialog.tsx';
import { isExcluded } from './exclusion.ts';
import {
  EndExclusionDialog,
  ExclusionDialog,
  FeeLimitDialog,
  JurisdictionDialog,
  VerificationDialog,
} from './fact-dialogs.tsx';
import { FLAGS, type Flag } from './flag-changes.ts';
import './accounts.css';

type Asking = Flag | 'exclude' | 'endExclusion' | 'jurisdiction' | 'verification' | 'feeLimit';

interface Fact {
  readonly label: string;
  readonly value: ReactNode;
  readonly effect: string;
  readonly actions: readonly { readonly asking: Asking; readonly label: string }[];
}

export function FactsSection({ account }: { readonly account: Account }): ReactNode {
  const [asking, setAsking] = useState<Asking>();
  const columns = useMemo(() => columnsWith(setAsking), []);
  return (
    <Section title="Flags and limits">
      <Table
        caption="Flags and limits"
        columns={columns}
        rows={factsOf(account)}
        keyOf={({ label }) => label}
        empty={null}
      />
      {asking !== undefined && <Question asking={asking} account={account} onClose={() => setAsking(undefined)} />}
    </Section>
  );
}

function columnsWith(ask: (asking: Asking) => void): readonly Column<Fact>[] {
  return [
    { name: 'Fact', cell: ({ label }) => label },
    { name: 'Now', cell: ({ value }) => value },
    { name: 'What it does', grow: 3, cell: ({ effect }) => <span className="muted">{effect}</span> },
    {
      name: 'Change',
      align: 'end',
      grow: 2,
      cell: ({ actions }) => (
        <span className="account-changes">
          {actions.map(({ asking, label }) => (
            <Button key={asking} onClick={() => ask(asking)}>
              {label}
            </Button>
          ))}
        </span>
      ),
    },
  ];
}

function factsOf(account: Account): readonly Fact[] {
  return [flagFact(account, 'blocked'), exclusionFact(account)].concat(
    flagFact(account, 'enforcement_flag'),
    flagFact(account, 'under_investigation'),
    {
      label: 'Verification level',
      value: account.verification_level,
      effect: 'Paid attempts of contests that need a higher one get 403 blocked.',
      actions: [{ asking: 'verification', label: 'Change the level' }],
    },
    {
      label: 'Jurisdiction',
      value: account.jurisdiction,
      effect: 'In live, paid attempts get 403 blocked where it is not served.',
      actions: [{ asking: 'jurisdiction', label: 'Change the jurisdiction' }],
    },
    {
      label: 'Fee limit',
      value:
        account.fee_limit === null ? (
          <span className="muted">the program’s</span>
        ) : (
          <Money amount={account.fee_limit} />
        ),
      effect: 'What one program may charge in 24 hours, if the program’s own limit is not lower.',
      actions: [{ asking: 'feeLimit', label: 'Change the fee limit' }],
    },
  );
}

function flagFact(account: Account, flag: Flag): Fact {
  const { label, effect, set, clear } = FLAGS[flag];
  const isSet = account[flag];
  return {
    label,
    value: isSet ? <Status value="yes" tone="bad" /> : 'no',
    effect,
    actions: [{ asking: flag, label: isSet ? clear.button : set.button }],
  };
}

function exclusionFact({ self_excluded_until: until }: Account): Fact {
  const excluded = isExcluded(until, new Date());
  return {
    label: 'Self-exclusion',
    value: excluded ? (
      <>
        <Status value="excluded" tone="bad" /> ends <Time at={until} />
      </>
    ) : (
      'no'
    ),
    effect: 'Until it ends, paid attempts get 403 blocked in every program.',
    actions: [
      { asking: 'exclude', label: excluded ? 'Change the exclusion' : 'Exclude' },
      ...(excluded ? [{ asking: 'endExclusion', label: 'End the exclusion' } as const] : []),
    ],
  };
}

interface QuestionProps {
  readonly asking: Asking;
  readonly account: Account;
  readonly onClose: () => void;
}

function Question({ asking, ...dialog }: QuestionProps): ReactNode {
  switch (asking) {
    case 'exclude':
      return <ExclusionDialog {...dialog} />;
    case 'endExclusion':
      return <EndExclusionDialog {...dialog} />;
    case 'jurisdiction':
      return <JurisdictionDialog {...dialog} />;
    case 'verification':
      return <VerificationDialog {...dialog} />;
    case 'feeLimit':
      return <FeeLimitDialog {...dialog} />;
    default:
      return <FlagDialog flag={asking} {...dialog} />;
  }
}

interface FlagDialogProps {
  readonly flag: Flag;
  readonly account: Account;
  readonly onClose: () => void;
}

function FlagDialog({ flag, account, onClose }: FlagDialogProps): ReactNode {
  // What is asked stays the same while the dialog is open, whatever another operator does.
  const [isSet] = useState(account[flag]);
  const { title, consequence, confirm } = isSet ? FLAGS[flag].clear : FLAGS[flag].set;
  return (
    <AccountDialog
      account={account}
      title={title(account.email)}
      consequence={consequence}
      confirm={confirm}
      tone={isSet ? 'primary' : 'danger'}
      body={{ [flag]: !isSet }}
      onClose={onClose}
    />
  );
}
