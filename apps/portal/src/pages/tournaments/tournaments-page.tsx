import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorTournament } from '../../api/api-types.ts';
import { useList } from '../../api/use-read.ts';
import { TOURNAMENT_STATUSES } from '../../contests/statuses.ts';
import { TOURNAMENT_COLUMNS } from '../../contests/tournament-columns.tsx';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { FilterBar } from '../../kit/filter-bar.tsx';
import { ListTable } from '../../kit/list-table.tsx';
import { Page } from '../../kit/page.tsx';
import { callSamples, get } from '../../kit/samples.ts';
import type { Column } from '../../kit/table.tsx';
import { useProgram } from '../../layout/program.tsx';

const route = getRouteApi('/p/$programId/$environment/tournaments');

const COLUMNS: readonly Column<OperatorTournament>[] = [
  { name: 'Tournament', grow: 2, cell: (tournament) => <TournamentLink tournament={tournament} /> },
  ...TOURNAMENT_COLUMNS,
];

export function TournamentsPage(): ReactNode {
  const { environment, pathOf } = useProgram();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tournaments = useList<OperatorTournament>(pathOf('/tournaments'), { environment, status: search.status });
  return (
    <Page title="Tournaments">
      <FilterBar
        fields={[{ name: 'status', label: 'Status', options: TOURNAMENT_STATUSES }]}
        value={search}
        onChange={(next) => void navigate({ search: next })}
      />
      <ListTable
        reading={tournaments}
        caption="Tournaments"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={<NoTournaments status={search.status} />}
      />
    </Page>
  );
}

function TournamentLink({ tournament: { id, name } }: { readonly tournament: OperatorTournament }): ReactNode {
  const { programId, environment } = useProgram();
  return (
    <Link
      className="row-link"
      to="/p/$programId/$environment/tournaments/$tournamentId"
      params={{ programId, environment, tournamentId: id }}
    >
      {name}
    </Link>
  );
}

function NoTournaments({ status }: { readonly status: string | undefined }): ReactNode {
  const { environment } = useProgram();
  if (status !== undefined) return <Empty title={`No tournament is ${status} in the ${environment} environment`} />;
  return (
    <Empty title={`No tournaments in the ${environment} environment yet`}>
      <p>An operator of this host creates tournaments with you. Your server then finds them with this call.</p>
      <CodeSample
        title="List the tournaments"
        samples={callSamples(environment, {
          calls: [get('/v1/tournaments')],
          sdk: 'const { data: tournaments } = await laurel.tournaments.list();',
        })}
      />
    </Empty>
  );
}
