import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorTournament, PurseRow, Round } from '../../api/api-types.ts';
import { useList, useRead } from '../../api/use-read.ts';
import { Empty } from '../../kit/empty.tsx';
import { Facts } from '../../kit/facts.tsx';
import { formatCount } from '../../kit/format.ts';
import { Id } from '../../kit/id.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Money } from '../../kit/money.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { Status } from '../../kit/status.tsx';
import { type Column, More, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { AttemptsLink } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';
import { groupRanks, type PurseGroup } from './purse.ts';
import { tournamentWords } from './words.ts';

const route = getRouteApi('/p/$programId/$environment/tournaments/$tournamentId');
const REFRESH_MS = 30_000;

export function TournamentPage(): ReactNode {
  const { programId, environment, pathOf } = useProgram();
  const { tournamentId } = route.useParams();
  const reading = useRead<OperatorTournament>(pathOf(`/tournaments/${tournamentId}`), {}, { refreshMs: REFRESH_MS });
  const above = (
    <Link to="/p/$programId/$environment/tournaments" params={{ programId, environment }}>
      Tournaments
    </Link>
  );
  if (reading.state !== 'loaded') {
    return (
      <Page title="Tournament" above={above}>
        <Loaded reading={reading}>{() => null}</Loaded>
      </Page>
    );
  }
  const tournament = reading.data;
  if (tournament.environment !== environment) {
    const params = { programId, tournamentId, environment: tournament.environment };
    return <Navigate replace to="/p/$programId/$environment/tournaments/$tournamentId" params={params} />;
  }
  return (
    <Page title={tournament.name} above={above} beside={<Status value={tournament.status} />}>
      <p>{tournamentWords(tournament.status)}</p>
      {tournament.description !== null && <p>{tournament.description}</p>}
      <Rounds tournamentId={tournamentId} />
      <div className="columns">
        <Terms tournament={tournament} />
        <Section title="Purse">
          <PurseTable purse={tournament.purse_table} />
        </Section>
      </div>
    </Page>
  );
}

function Terms({ tournament }: { readonly tournament: OperatorTournament }): ReactNode {
  const { round_length_seconds: length, tiebreak_metric_name: tiebreak } = tournament;
  return (
    <Section title="Terms">
      <Facts
        items={[
          { label: 'Entry fee', value: <Money amount={tournament.entry_fee} /> },
          { label: 'Purse', value: <Money amount={tournament.purse_amount} /> },
          { label: 'Attempts for each player', value: `${formatCount(tournament.attempt_cap)} in a round` },
          { label: 'Metric', value: `${tournament.metric_name} (${tournament.metric_unit})` },
          { label: 'Better score', value: directionWords(tournament.threshold_direction) },
          {
            label: 'Tiebreak',
            value:
              tiebreak === null
                ? 'None'
                : `${tiebreak}, ${directionWords(tournament.tiebreak_direction).toLowerCase()}`,
          },
          {
            label: 'A round needs',
            value: needWords(tournament),
          },
          { label: 'A round lasts', value: length === null ? 'Set by the operator each time' : lengthWords(length) },
          { label: 'Id', value: <Id value={tournament.id} what="tournament" /> },
          { label: 'Created', value: <Time at={tournament.created_at} /> },
        ]}
      />
    </Section>
  );
}

function needWords({ min_entrants, min_scored_attempts }: OperatorTournament): string {
  const entrants = `${formatCount(min_entrants)} ${min_entrants === 1 ? 'entrant' : 'entrants'}`;
  return min_scored_attempts === 0 ? entrants : `${entrants}, and ${formatCount(min_scored_attempts)} scored attempts`;
}

function directionWords(direction: OperatorTournament['tiebreak_direction']): string {
  return direction === 'lower_is_better' ? 'Lower' : 'Higher';
}

function lengthWords(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2_880 ? `${Math.round(minutes / 6) / 10} h` : `${Math.round(minutes / 144) / 10} days`;
}

const PURSE_COLUMNS: readonly Column<PurseGroup>[] = [
  {
    name: 'Rank',
    cell: ({ first, last }) => (first === last ? formatCount(first) : `${formatCount(first)} to ${formatCount(last)}`),
  },
  { name: 'Payout', align: 'end', cell: ({ amount }) => <Money amount={amount} /> },
];

export function PurseTable({ purse }: { readonly purse: readonly PurseRow[] }): ReactNode {
  return (
    <div className="compact">
      <Table
        caption="Purse"
        columns={PURSE_COLUMNS}
        rows={groupRanks(purse)}
        keyOf={({ first }) => String(first)}
        empty={<Empty title="No rank is paid" />}
      />
    </div>
  );
}

const ROUND_COLUMNS: readonly Column<Round>[] = [
  { name: 'Opened', cell: (round) => <RoundLink round={round} /> },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Closes', cell: ({ closes_at }) => <Time at={closes_at} /> },
  { name: 'Entrants', align: 'end', cell: ({ entrant_count }) => formatCount(entrant_count) },
  { name: 'Purse', align: 'end', cell: ({ purse_amount }) => <Money amount={purse_amount} /> },
  { name: 'Settled', cell: ({ settled_at }) => <Settled at={settled_at} /> },
  { name: 'Attempts', cell: ({ id }) => <AttemptsLink of={{ tournament_round_id: id }}>Show</AttemptsLink> },
  { name: 'Round', grow: 2, cell: ({ id }) => <Id value={id} what="round" /> },
];

function Settled({ at }: { readonly at: string | null }): ReactNode {
  return at === null ? <span className="muted">–</span> : <Time at={at} />;
}

function RoundLink({ round: { id, opens_at } }: { readonly round: Round }): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <Link
      className="row-link"
      to="/p/$programId/$environment/rounds/$roundId"
      params={{ programId, environment, roundId: id }}
    >
      {utcMinute(opens_at)}
    </Link>
  );
}

/** "2026-11-21 12:00 UTC". */
export function utcMinute(at: string): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function Rounds({ tournamentId }: { readonly tournamentId: string }): ReactNode {
  const { pathOf } = useProgram();
  const rounds = useList<Round>(pathOf(`/tournaments/${tournamentId}/rounds`));
  return (
    <Section title="Rounds">
      <Loaded reading={rounds}>
        {(list) => (
          <>
            <Table
              caption="Rounds"
              columns={ROUND_COLUMNS}
              rows={list.rows}
              keyOf={({ id }) => id}
              empty={<Empty title="No round has opened yet" />}
            />
            <More list={list} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
