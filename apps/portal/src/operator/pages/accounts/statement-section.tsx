/** The movements of money on the account in one environment, and the dialog of a deposit. */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Account, Environment, StatementLine } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { Button } from '../../../kit/button.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { money, words } from '../../../kit/format.ts';
import { Loaded } from '../../../kit/loaded.tsx';
import { Money } from '../../../kit/money.tsx';
import { Section } from '../../../kit/page.tsx';
import { type Column, More, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { AttemptId, PayoutId } from '../../layout/item-ids.tsx';
import { DepositDialog, type PostedDeposit } from './deposit-dialog.tsx';
import { environmentOf, takesDeposits } from './environment.ts';
import { ENVIRONMENTS } from './search.ts';

const PAGE_LINES = 50;

const COLUMNS: readonly Column<StatementLine>[] = [
  { name: 'When', cell: (line) => <Time at={line.created_at} /> },
  { name: 'What', cell: ({ kind }) => words(kind) },
  { name: 'For', grow: 3, cell: (line) => <Cause line={line} /> },
  { name: 'Amount', align: 'end', cell: ({ amount }) => <Money amount={amount} /> },
  { name: 'Balance', align: 'end', cell: (line) => <Money amount={line.balance_after} /> },
];

interface StatementSectionProps {
  readonly account: Account;
  readonly environment: Environment;
}

export function StatementSection({ account, environment }: StatementSectionProps): ReactNode {
  const lines = useList<StatementLine>(`/accounts/${account.id}/statement`, { environment, limit: PAGE_LINES });
  const [isAsking, setAsking] = useState(false);
  const [deposited, setDeposited] = useState<PostedDeposit>();
  const isOwn = environment === environmentOf(account);
  return (
    <Section
      title="Statement"
      actions={
        <>
          <EnvironmentLinks accountId={account.id} shown={environment} />
          {isOwn && takesDeposits(account) && <Button onClick={() => setAsking(true)}>Deposit</Button>}
        </>
      }
    >
      {deposited !== undefined && <DepositResult deposited={deposited} />}
      {!isOwn && (
        <p className="muted">
          {environment === 'live' ? 'A sandbox account has no real money.' : 'A person has no play money.'}
        </p>
      )}
      <Loaded reading={lines}>
        {(list) => (
          <>
            <p>
              Balance: <Money amount={list.rows[0]?.balance_after ?? '0.00'} /> <EnvironmentBadge value={environment} />
            </p>
            <Table
              caption="Statement"
              columns={COLUMNS}
              rows={list.rows}
              keyOf={({ id }) => id}
              empty={<Empty title={`No money has moved in ${environment}`} />}
            />
            <More list={list} />
          </>
        )}
      </Loaded>
      {isAsking && <DepositDialog account={account} onDeposited={setDeposited} onClose={() => setAsking(false)} />}
    </Section>
  );
}

interface EnvironmentLinksProps {
  readonly accountId: string;
  readonly shown: Environment;
}

function EnvironmentLinks({ accountId, shown }: EnvironmentLinksProps): ReactNode {
  return (
    <nav className="environments" aria-label="Environment of the statement">
      {ENVIRONMENTS.map((environment) => (
        <Link
          key={environment}
          to="/accounts/$accountId"
          params={{ accountId }}
          search={{ environment }}
          resetScroll={false}
          aria-current={environment === shown ? 'true' : undefined}
        >
          {environment}
        </Link>
      ))}
    </nav>
  );
}

/** Says whether the deposit was posted, or repeats an earlier one, so that no money moved. */
function DepositResult({ deposited: { amount, reference, result } }: { readonly deposited: PostedDeposit }): ReactNode {
  const balance = `The balance is ${money(result.balance)}.`;
  return (
    <p role="status">
      {result.posted_before
        ? `Nothing has moved: “${reference}” brought ${money(amount)} in before. ${balance}`
        : `${money(amount)} is deposited for “${reference}”. ${balance}`}
    </p>
  );
}

/**
 * Shows the cause: an attempt for a fee or refund, a payout for a prize, a payment for a deposit.
 */
function Cause({ line }: { readonly line: StatementLine }): ReactNode {
  const { kind, reference, attempt_id: attemptId } = line;
  if (kind === 'fee' || kind === 'refund') return <AttemptId value={reference} isShort />;
  if (kind === 'award' || kind === 'purse') return <PayoutId value={reference} isShort />;
  if (attemptId === null) return <span className="account-reference">{reference}</span>;
  return (
    <>
      <span className="account-reference">{reference}</span>, makes good <AttemptId value={attemptId} isShort />
    </>
  );
}
