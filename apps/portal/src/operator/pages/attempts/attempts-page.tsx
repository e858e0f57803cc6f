import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorAttemptLine } from '../../../api/api-types.ts';
import { useList } from '../../../api/use-read.ts';
import { ATTEMPT_STATUSES, withOneContest } from '../../../attempts/filters.ts';
import { Empty } from '../../../kit/empty.tsx';
import { FilterBar } from '../../../kit/filter-bar.tsx';
import { idField } from '../../../kit/filters.ts';
import { Loaded } from '../../../kit/loaded.tsx';
import { Page } from '../../../kit/page.tsx';
import { More, Table } from '../../../kit/table.tsx';
import { EnvironmentBadge } from '../../layout/environment-badge.tsx';
import { ProgramChoice } from '../../layout/program-choice.tsx';
import { ACCOUNT_COLUMNS, PROGRAM_COLUMNS } from './columns.tsx';
import { type AttemptSearch, ENVIRONMENTS, queryOf } from './search.ts';

const route = getRouteApi('/shell/attempts');

const FIELDS = [
  { name: 'program_id', label: 'Program', ...idField },
  { name: 'environment', label: 'Environment', options: ENVIRONMENTS },
  { name: 'account_id', label: 'Account', ...idField },
  { name: 'status', label: 'Status', options: ATTEMPT_STATUSES },
  { name: 'player_ref', label: 'Player', placeholder: 'player_ref' },
  { name: 'challenge_id', label: 'Challenge', ...idField },
  { name: 'tournament_round_id', label: 'Round', ...idField },
] as const;

export function AttemptsPage(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const asked = queryOf(search);
  const apply = (next: AttemptSearch) => void navigate({ search: withOneContest(search, next) });
  return (
    <Page
      title="Attempts"
      beside={
        asked.kind === 'complete' &&
        asked.query.environment !== undefined && <EnvironmentBadge value={asked.query.environment} />
      }
    >
      <FilterBar fields={FIELDS} value={search} onChange={apply} />
      {asked.kind === 'complete' ? (
        <Attempts query={asked.query} />
      ) : asked.what === 'program' ? (
        <Empty title="Whose attempts?">
          <p>
            Put the id of an account or of a program into its field, or choose a program. One attempt is found by any of
            its ids in the search of the header.
          </p>
          <ProgramChoice
            confirm="Show its attempts"
            onChoose={(programId) => apply({ ...search, program_id: programId })}
          />
        </Empty>
      ) : (
        <Empty title="In which environment?">
          <p>A program has real attempts and those of its sandbox.</p>
          <ul className="environment-choice">
            {ENVIRONMENTS.map((environment) => (
              <li key={environment}>
                <Link to="/attempts" search={{ ...search, environment }} className="button">
                  {environment === 'live' ? 'Live: real money' : 'Test: play money'}
                </Link>
              </li>
            ))}
          </ul>
        </Empty>
      )}
    </Page>
  );
}

function Attempts({ query }: { readonly query: AttemptSearch }): ReactNode {
  const attempts = useList<OperatorAttemptLine>('/attempts', query);
  return (
    <Loaded reading={attempts}>
      {(list) => (
        <>
          <Table
            caption="Attempts, newest first"
            columns={query.program_id === undefined ? ACCOUNT_COLUMNS : PROGRAM_COLUMNS}
            rows={list.rows}
            keyOf={({ id }) => id}
            empty={<NoAttempt hasMore={list.hasMore} />}
          />
          <More list={list} />
        </>
      )}
    </Loaded>
  );
}

/**
 * Laurel reads a bounded number of attempts for a page, so a page may be empty although older
 * attempts match.
 */
function NoAttempt({ hasMore }: { readonly hasMore: boolean }): ReactNode {
  return (
    <Empty title="No attempt matches these filters">
      <p>
        {hasMore
          ? 'None of the newest does. “Load more” looks further back.'
          : 'An attempt is listed two seconds after it was created. Clear a filter to see more.'}
      </p>
    </Empty>
  );
}
