import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Environment, OperatorTournament } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { TOURNAMENT_STATUSES } from '../../../contests/statuses.ts';
import { TOURNAMENT_COLUMNS } from '../../../contests/tournament-columns.tsx';
import { Empty } from '../../../kit/empty.tsx';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page } from '../../../kit/page.tsx';
import { type Column, More, Table } from '../../../kit/table.tsx';
import { EnvironmentBand, EnvironmentTabs } from '../../layout/environments.tsx';
import { TournamentId } from '../../layout/item-ids.tsx';
import { ProgramName } from '../../layout/program-name.tsx';

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
  const path = `/programs/${programId}/tournaments`;
  const tournaments = useList<OperatorTournament>(path, { environment, status });
  return (
    <Page
      title="Tournaments"
      above={
        <Link to="/programs/$programId" params={{ programId }}>
          <ProgramName programId={programId} />
        </Link>
      }
      beside={<EnvironmentTabs path={path} current={environment} />}
      actions={
        <Link
          className="button"
          data-tone="primary"
          to="/programs/$programId/tournaments/new"
          params={{ programId }}
          search={{ environment }}
        >
          Create a tournament
        </Link>
      }
    >
      <EnvironmentBand environment={environment} />
      <FilterBar
        fields={[{ name: 'status', label: 'Status', options: TOURNAMENT_STATUSES }]}
        value={search}
        onChange={(next) => void navigate({ search: next })}
      />
      <Loaded reading={tournaments}>
        {(list) => (
          <>
            <Table
              caption="Tournaments"
              columns={COLUMNS}
              rows={list.rows}
              keyOf={({ id }) => id}
              empty={<NoTournaments environment={environment} status={status} />}
            />
            <More list={list} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface NoTournamentsProps {
  readonly environment: Environment;
  readonly status: string | undefined;
}

function NoTournaments({ environment, status }: NoTournamentsProps): ReactNode {
  if (status !== undefined) return <Empty title={`No tournament is ${status} in the ${environment} environment`} />;
  return (
    <Empty title={`No tournaments in the ${environment} environment yet`}>
      <p>“Create a tournament” makes one. Its partner’s server then finds it in GET /v1/tournaments.</p>
    </Empty>
  );
}
