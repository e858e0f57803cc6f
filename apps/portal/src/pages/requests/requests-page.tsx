import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RequestLine } from '../../api/api-types.ts';
import { type LiveTail, useLiveTail } from '../../api/use-live-tail.ts';
import { CodeSample } from '../../kit/code-sample.tsx';
import { Empty } from '../../kit/empty.tsx';
import { FilterBar } from '../../kit/filter-bar.tsx';
import { idField } from '../../kit/filters.ts';
import { formatDuration } from '../../kit/format.ts';
import { LiveTable } from '../../kit/live-table.tsx';
import { Loaded } from '../../kit/loaded.tsx';
import { Page } from '../../kit/page.tsx';
import { challengeListSamples } from '../../kit/samples.ts';
import { HttpStatus, Status } from '../../kit/status.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { AttemptId } from '../../layout/attempt-links.tsx';
import { useProgram } from '../../layout/program.tsx';
import { ProgramLink } from '../../layout/program-link.tsx';
import { METHODS, STATUSES } from './search.ts';
import './requests.css';

const route = getRouteApi('/p/$programId/$environment/requests');

const FIELDS = [
  { name: 'status', label: 'Status', options: STATUSES },
  { name: 'method', label: 'Method', options: METHODS },
  { name: 'error_code', label: 'Error code', placeholder: 'insufficient_funds' },
  { name: 'route', label: 'Route', placeholder: '/v1/attempts/{attempt_id}' },
  { name: 'idempotency_key', label: 'Idempotency key' },
  { name: 'attempt_id', label: 'Attempt', ...idField },
] as const;

const COLUMNS: readonly Column<RequestLine>[] = [
  {
    name: 'Request',
    grow: 3,
    cell: ({ request_id, method, path }) => (
      <ProgramLink className="row-link request-line" path={`/requests/${request_id}`}>
        <b>{method}</b> {path}
      </ProgramLink>
    ),
  },
  {
    name: 'Response',
    grow: 2,
    cell: ({ status, error_code, replayed }) => (
      <span className="request-response">
        <HttpStatus value={status} />
        {error_code !== null && <code>{error_code}</code>}
        {replayed && <Status value="replayed" />}
      </span>
    ),
  },
  {
    name: 'Attempt',
    grow: 1.6,
    cell: ({ attempt_id: id }) => (id === null ? <span className="muted">–</span> : <AttemptId value={id} isShort />),
  },
  {
    name: 'Took',
    align: 'end',
    cell: ({ duration_ms }) => <span className="request-time">{formatDuration(duration_ms)}</span>,
  },
  { name: 'Arrived', align: 'end', cell: ({ at }) => <Time at={at} /> },
];

const keyOf = ({ request_id }: RequestLine) => request_id;

export function RequestsPage(): ReactNode {
  const { environment, pathOf } = useProgram();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isFiltered = Object.keys(search).length > 0;
  const tail = useLiveTail<RequestLine>({
    path: pathOf('/requests'),
    query: { environment, ...search },
    keyOf,
  });
  return (
    <Page title="Requests">
      <p className="muted">
        What your servers sent to <code>/v1</code> with a {environment} key in the last 7 days. A request appears within
        a second after its response.
      </p>
      <FilterBar fields={FIELDS} value={search} onChange={(next) => void navigate({ search: next })} />
      <Loaded reading={tail}>
        {(list) => (
          <LiveTable
            tail={list}
            caption="Requests"
            columns={COLUMNS}
            keyOf={keyOf}
            empty={
              isFiltered ? <NothingMatches list={list} isOfAttempt={search.attempt_id !== undefined} /> : <NoRequests />
            }
          />
        )}
      </Loaded>
    </Page>
  );
}

interface NothingMatchesProps {
  readonly list: Pick<LiveTail<unknown>, 'hasMore'>;
  readonly isOfAttempt: boolean;
}

/** A page of a filtered list reads at most 10,000 requests. */
function NothingMatches({ list, isOfAttempt }: NothingMatchesProps): ReactNode {
  return (
    <Empty title="No request matches these filters">
      {isOfAttempt && (
        <p>
          The log has what a server sent with an API key: neither the steps of the sandbox console, nor the results that
          an integration brought.
        </p>
      )}
      {list.hasMore && <p>None of the newest 10,000 does. “Load more” looks further back.</p>}
    </Empty>
  );
}

function NoRequests(): ReactNode {
  const { environment } = useProgram();
  return (
    <Empty title={`No requests with a ${environment} key in the last 7 days`}>
      <p>Send this one, and it appears here:</p>
      <CodeSample title="List the challenges" samples={challengeListSamples(environment)} />
    </Empty>
  );
}
