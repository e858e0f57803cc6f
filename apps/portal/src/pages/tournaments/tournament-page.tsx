import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorTournament, Round } from '../../api/api-types.ts';
import { useList, useRead } from '../../api/use-read.ts';
import { PurseTable } from '../../contests/purse-table.tsx';
import { utcMinute } from '../../contests/round-facts.tsx';
import { ROUND_COLUMNS } from '../../contests/tournament-columns.tsx';
import { TournamentTerms } from '../../contests/tournament-terms.tsx';
import { tournamentWords } from '../../contests/tournament-words.ts';
import { Empty } from '../../kit/empty.tsx';
import { Id } from '../../kit/id.tsx';
import { ListTable } from '../../kit/list-table.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page, Section } from '../../kit/page.tsx';
import { Status } from '../../kit/status.tsx';
import type { Column } from '../../kit/table.tsx';
import { AttemptsLink } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';

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
        <TournamentTerms tournament={tournament} />
        <Section title="Purse">
          <PurseTable purse={tournament.purse_table} />
        </Section>
      </div>
    </Page>
  );
}

const COLUMNS: readonly Column<Round>[] = [
  { name: 'Opened', cell: (round) => <RoundLink round={round} /> },
  ...ROUND_COLUMNS,
  { name: 'Attempts', cell: ({ id }) => <AttemptsLink of={{ tournament_round_id: id }}>Show</AttemptsLink> },
  { name: 'Round', grow: 2, cell: ({ id }) => <Id value={id} what="round" /> },
];

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

function Rounds({ tournamentId }: { readonly tournamentId: string }): ReactNode {
  const { pathOf } = useProgram();
  const rounds = useList<Round>(pathOf(`/tournaments/${tournamentId}/rounds`));
  return (
    <Section title="Rounds">
      <ListTable
        reading={rounds}
        caption="Rounds"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={<Empty title="No round has opened yet" />}
      />
    </Section>
  );
}
