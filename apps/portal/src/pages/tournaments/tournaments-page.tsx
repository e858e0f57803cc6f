import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorTournament } from '../../api/api-types.ts';
import { useList } from '../../api/use-read.ts';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { FilterBar } from '../../kit/filter-bar.tsx';
import { formatCount } from '../../kit/format.ts';
import { Loaded } from '../../kit/loaded.tsx';
import { Money } from '../../kit/money.tsx';
import { Page } from '../../kit/page.tsx';
import { callSamples, get } from '../../kit/samples.ts';
import { Status } from '../../kit/status.tsx';
import { type Column, More, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useProgram } from '../../layout/program.tsx';
import { STATUSES } from './search.ts';

const route = getRouteApi('/p/$programId/$environment/tournaments');

const COLUMNS: readonly Column<OperatorTournament>[] = [
  { name: 'Tournament', grow: 2, cell: (tournament) => <TournamentLink tournament={tournament} /> },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Entry fee', align: 'end', cell: ({ entry_fee }) => <Money amount={entry_fee} /> },
  { name: 'Purse', align: 'end', cell: ({ purse_amount }) => <Money amount={purse_amount} /> },
  {
    name: 'Latest round',
    cell: ({ current_round: round }) =>
      round === null ? <span className="muted">none yet</span> : <Status value={round.status} />,
  },
  {
    name: 'Closes',
    cell: ({ current_round: round }) =>
      round === null ? <span className="muted">–</span> : <Time at={round.closes_at} />,
  },
  {
    name: 'Entrants',
    align: 'end',
    cell: ({ current_round: round }) =>
      round === null ? <span className="muted">–</span> : formatCount(round.entrant_count),
  },
];

export function TournamentsPage(): ReactNode {
  const { environment, pathOf } = useProgram();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tournaments = useList<OperatorTournament>(pathOf('/tournaments'), { environment, status: search.status });
  return (
    <Page title="Tournaments">
      <FilterBar
        fields={[{ name: 'status', label: 'Status', options: STATUSES }]}
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
              empty={<NoTournaments status={search.status} />}
            />
            <More list={list} />
          </>
        )}
      </Loaded>
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
