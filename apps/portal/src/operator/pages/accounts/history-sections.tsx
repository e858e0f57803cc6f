/**
 * The newest attempts, payouts and actions of the account, each section with a link to the complete
 * list.
 */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorAction, OperatorAttemptLine, Payout } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { Empty } from '../../../kit/empty.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Money } from '../../../kit/money.tsx';
import { Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import { type Column, Table } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { AttemptId, ChallengeId, PayoutId, ProgramId, RoundId } from '../../layout/item-ids.tsx';
import { ActionTable } from '../actions/action-table.tsx';

const SHOWN_ROWS = 5;

interface HistoryProps {
  readonly accountId: string;
}

const ATTEMPT_COLUMNS: readonly Column<OperatorAttemptLine>[] = [
  { name: 'Attempt', cell: ({ id }) => <AttemptId value={id} isShort /> },
  {
    name: 'Contest',
    cell: ({ challenge_id: challengeId, tournament_round_id: roundId }) =>
      challengeId === null ? <RoundId value={roundId ?? ''} isShort /> : <ChallengeId value={challengeId} isShort />,
  },
  { name: 'Program', cell: (attempt) => <ProgramOf {...attempt} /> },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Fee', align: 'end', cell: ({ fee }) => <Money amount={fee} /> },
  { name: 'Created', align: 'end', cell: (attempt) => <Time at={attempt.created_at} /> },
];

export function AttemptsSection({ accountId }: HistoryProps): ReactNode {
  const attempts = useList<OperatorAttemptLine>('/attempts', { account_id: accountId, limit: SHOWN_ROWS });
  return (
    <Section
      title="Newest attempts"
      actions={
        <Link to="/attempts" search={{ account_id: accountId }}>
          All attempts
        </Link>
      }
    >
      <Loaded reading={attempts}>
        {({ rows }) => (
          <Table
            caption="Newest attempts"
            columns={ATTEMPT_COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            empty={<Empty title="The account has paid for no attempt" />}
          />
        )}
      </Loaded>
    </Section>
  );
}

const PAYOUT_COLUMNS: readonly Column<Payout>[] = [
  { name: 'Payout', cell: (payout) => <PayoutId value={payout.award_id} isShort /> },
  { name: 'Amount', align: 'end', cell: ({ amount }) => <Money amount={amount} /> },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Program', cell: (payout) => <ProgramOf {...payout} /> },
  { name: 'Won', align: 'end', cell: (payout) => <Time at={payout.created_at} /> },
];

export function PayoutsSection({ accountId }: HistoryProps): ReactNode {
  const payouts = useList<Payout>('/payouts', { account_id: accountId, limit: SHOWN_ROWS });
  return (
    <Section
      title="Newest payouts"
      actions={
        <Link to="/payouts" search={{ account_id: accountId }}>
          All payouts
        </Link>
      }
    >
      <Loaded reading={payouts}>
        {({ rows }) => (
          <Table
            caption="Newest payouts"
            columns={PAYOUT_COLUMNS}
            rows={rows}
            keyOf={(payout) => payout.award_id}
            empty={<Empty title="The player has won nothing" />}
          />
        )}
      </Loaded>
    </Section>
  );
}

export function ActionsSection({ accountId }: HistoryProps): ReactNode {
  const subject = `account:${accountId}`;
  const actions = useList<OperatorAction>('/actions', { subject, limit: SHOWN_ROWS });
  return (
    <Section
      title="What operators did"
      actions={
        <Link to="/actions" search={{ subject }}>
          All actions
        </Link>
      }
    >
      <Loaded reading={actions}>
        {({ rows }) => <ActionTable rows={rows} empty={<Empty title="No operator has changed the account" />} />}
      </Loaded>
    </Section>
  );
}

function ProgramOf({ program_id, environment }: Pick<Payout, 'program_id' | 'environment'>): ReactNode {
  return (
    <>
      <ProgramId value={program_id} isShort /> <EnvironmentBadge value={environment} />
    </>
  );
}
