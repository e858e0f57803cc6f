import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorTournament } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { TOURNAMENT_STATUSES } from '../../../contests/statuses.ts';
import { TOURNAMENT_COLUMNS } from '../../../contests/tournament-columns.tsx';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { ListTable } from '../../../kit/list-table.tsx';
import type { Column } from '../../../kit/table.tsx';
import { ContestListPage, NoContests } from '../../contests/contest-list-page.tsx';
import { TournamentId } from '../../layout/item-ids.tsx';

const route = getRouteApi('/shell/programs/$programId/tournaments');

const COLUMNS: readonly Column<OperatorTournament>[] = [
  {
    name: 'Tournament',
    grow: 2,
    cell: ({ id, name }) => (
      <Link className="row-link" to="/tournaments/$tournamentId" params={{ tournamentId: id }}>
        {name}
      </Link>
    ),
  },
  ...TOURNAMENT_COLUMNS,
  { name: 'Id', cell: ({ id }) => <TournamentId value={id} isShort /> },
];

export function TournamentsPage(): ReactNode {
  const { programId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { environment = 'live', status } = search;
  const tournaments = useList<OperatorTournament>(`/programs/${programId}/tournaments`, { environment, status });
  return (
    <ContestListPage kind="tournament" programId={programId} environment={environment}>
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
        empty={
          <NoContests kind="tournament" environment={environment} status={status}>
            “Create a tournament” makes one. Its partner’s server then finds it in GET /v1/tournaments.
          </NoContests>
        }
      />
    </ContestListPage>
  );
}
