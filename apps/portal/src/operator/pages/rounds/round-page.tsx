import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type {
  OperatorRound,
  OperatorRoundStandings,
  OperatorStanding,
  OperatorTournament,
} from '../../../api/api-types.ts';
import { useList, useRead } from '../../../api/use-read.ts';
import { PurseTable } from '../../../contests/purse-table.tsx';
import { RoundFacts, utcMinute } from '../../../contests/round-facts.tsx';
import { standingsColumns } from '../../../contests/standings-columns.tsx';
import { roundWords } from '../../../contests/tournament-words.ts';
import { Empty } from '../../../kit/empty.tsx';
import { ListTable } from '../../../kit/list-table.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page, Section } from '../../../kit/page.tsx';
import { Status } from '../../../kit/status.tsx';
import type { Column } from '../../../kit/table.tsx';
import { Time } from '../../../kit/time.tsx';
import { AttemptsLink } from '../../layout/attempts-link.tsx';
import { EnvironmentBand } from '../../layout/environments.tsx';
import { AccountId, AttemptId, PayoutId } from '../../layout/item-ids.tsx';
import { CancelRound } from './cancel-round.tsx';

const route = getRouteApi('/shell/rounds/$roundId');
const REFRESH_MS = 10_000;
const PAGE_ROWS = 100;

export function RoundPage(): ReactNode {
  const { roundId } = route.useParams();
  // The round and its counts; the rows are read by pages, below.
  const reading = useRead<OperatorRoundStandings>(
    `/rounds/${roundId}/standings`,
    { limit: 1 },
    { refreshMs: REFRESH_MS },
  );
  if (reading.state !== 'loaded') {
    return (
      <Page title="Round">
        <Loaded reading={reading}>{() => null}</Loaded>
      </Page>
    );
  }
  const { round, scored_players: scoredPlayers } = reading.data;
  const { tournament_id: tournamentId, program_id, environment } = round;
  return (
    <Page
      title={`Round of ${utcMinute(round.opens_at)}`}
      above={
        <Link to="/tournaments/$tournamentId" params={{ tournamentId }}>
          {round.tournament_name ?? 'Tournament'}
        </Link>
      }
      beside={<Status value={round.status} />}
      actions={<CancelRound round={round} />}
    >
      <EnvironmentBand environment={environment} />
      <p>
        {round.cancellation === null ? roundWords(round, Date.now()) : <Cancellation round={round} />}{' '}
        <AttemptsLink of={{ program_id, environment, tournament_round_id: roundId }} />
      </p>
      <RoundFacts round={round} scoredPlayers={scoredPlayers} />
      <Standings round={round} />
      <Section title="Purse">
        <PurseTable purse={round.purse_table} />
      </Section>
    </Page>
  );
}

/**
 * Shows who cancelled the round. While an entry is under way, the round stays open for a moment.
 */
function Cancellation({ round: { status, cancellation } }: { readonly round: OperatorRound }): ReactNode {
  if (cancellation === null) return null;
  return (
    <>
      Cancelled by {cancellation.operator} <Time at={cancellation.cancelled_at} />: “{cancellation.reason}”. Nothing is
      paid, and every fee {status === 'cancelled' ? 'is returned' : 'is being returned'}.
    </>
  );
}

function Standings({ round }: { readonly round: OperatorRound }): ReactNode {
  const tournament = useRead<OperatorTournament>(`/tournaments/${round.tournament_id}`);
  const standings = useList<OperatorStanding>(
    `/rounds/${round.id}/standings`,
    { limit: PAGE_ROWS },
    { refreshMs: REFRESH_MS },
  );
  const unit = tournament.state === 'loaded' ? tournament.data.metric_unit : '…';
  const columns = useMemo(() => [...standingsColumns<OperatorStanding>(unit, playerOf), ...LINKS], [unit]);
  return (
    <Section title="Standings">
      {round.status === 'open' && (
        <p className="muted">
          For operators only: scores still move the ranks, and payouts are decided once it is settled.
        </p>
      )}
      <ListTable
        reading={standings}
        caption="Standings"
        columns={columns}
        keyOf={({ rank, account_id }) => `${rank} ${account_id}`}
        empty={<Empty title="No scores were reported" />}
        isLive
      />
    </Section>
  );
}

function playerOf({ player_ref, account_id }: OperatorStanding): ReactNode {
  return (
    <>
      {/* Isolates a right-to-left ref, which would otherwise reorder the text around it. */}
      <bdi>{player_ref}</bdi> <AccountId value={account_id} isShort />
    </>
  );
}

const LINKS: readonly Column<OperatorStanding>[] = [
  { name: 'Best attempt', grow: 2, cell: ({ best_attempt_id }) => <AttemptId value={best_attempt_id} isShort /> },
  {
    name: 'Award',
    grow: 2,
    cell: ({ award_id }) =>
      award_id === null ? <span className="muted">–</span> : <PayoutId value={award_id} isShort />,
  },
];
