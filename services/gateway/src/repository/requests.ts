/**
 * The request log (0014_create_requests.sql): written in batches after the responses, read by the
 * portal. Lists are ordered by position: the order in which the requests were written.
 */
import type { BoundStatement, Database, Statement } from '@laurel/postgres';
import { isUuid } from '@laurel/values/ids';
import type { Environment } from '@laurel/values/tenant';

export type Milestone = 'key_used' | 'player_linked' | 'attempt_created' | 'outcome_reported';

/** One program in one environment. */
export interface RequestScope {
  readonly programId: string;
  readonly environment: Environment;
}

export interface RequestLine extends RequestScope {
  readonly requestId: string;
  readonly at: Date;
  readonly method: string;
  readonly path: string;
  readonly route: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly durationMs: number;
  readonly idempotencyKey: string | null;
  readonly isReplayed: boolean;
}

export interface LoggedRequest extends RequestLine {
  readonly userAgent: string | null;
  readonly requestBody: string | null;
  readonly isRequestBodyTruncated: boolean;
  readonly responseBody: string | null;
  readonly isResponseBodyTruncated: boolean;
}

export interface FirstRequest extends RequestScope {
  readonly milestone: Milestone;
  readonly at: Date;
}

/** What the log derives from a request when it is read. */
interface Derived {
  readonly position: bigint;
  /** The attempt that the path names, or that the request created; null if the log knows none. */
  readonly attemptId: string | null;
}

/** A line as the lists return it. */
export type ListedLine = RequestLine & Derived;

export type ListedRequest = LoggedRequest & Derived;

/** Requests are counted per interval of this length. */
export const COUNT_INTERVAL_MS = 300_000;
/**
 * The most rows that one page of a filtered list reads. A page may therefore have fewer lines than
 * its limit, or none, although another one follows.
 */
const WINDOW_ROWS = 10_000;
const MAX_POSITION = 2n ** 63n - 1n;

/**
 * Held until the commit, so that positions become visible in their order: a reader that continues
 * after a position misses none. Replicas that write at the same time wait for each other's commit.
 */
const LOCK_POSITIONS: Statement = {
  name: 'lock_request_positions',
  text: `select pg_advisory_xact_lock(hashtextextended('laurel request positions', 0))`,
};

const INSERT: Statement = {
  name: 'insert_requests',
  text: `
    insert into requests (
      request_id, program_id, environment, at, method, path, route, status, error_code, duration_ms, idempotency_key,
      replayed, user_agent, request_body, request_body_truncated, response_body, response_body_truncated)
    select *
    from unnest(
      $1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::smallint[],
      $9::text[], $10::real[], $11::text[], $12::boolean[], $13::text[], $14::text[], $15::boolean[], $16::text[],
      $17::boolean[])
    order by 1`,
};

/** The positions' lock is held, so no two of these statements run at once. */
const COUNT: Statement = {
  name: 'count_requests',
  text: `
    insert into request_counts as c (program_id, environment, starts_at, status, error_code, requests)
    select *
    from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::smallint[], $5::text[], $6::bigint[])
    order by 1, 2, 3, 4, 5
    on conflict on constraint request_counts_pkey do update set requests = c.requests + excluded.requests`,
};

const INSERT_FIRST: Statement = {
  name: 'insert_first_requests',
  text: `
    insert into first_requests (program_id, environment, milestone, at)
    select *
    from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[])
    order by 1, 2, 3
    on conflict on constraint first_requests_pkey do nothing`,
};

/**
 * Writes the requests and counts them. A crash of the database may lose the newest: a log is not
 * worth a wait for the disk.
 */
export async function insertRequests(
  database: Database,
  requests: readonly LoggedRequest[],
  firsts: readonly FirstRequest[],
): Promise<void> {
  const column = <Value>(read: (request: LoggedRequest) => Value) => requests.map(read);
  const lines = [
    column((r) => r.requestId),
    column((r) => r.programId),
    column((r) => r.environment),
    column((r) => r.at),
    column((r) => r.method),
    column((r) => r.path),
    column((r) => r.route),
    column((r) => r.status),
    column((r) => r.errorCode),
    column((r) => r.durationMs),
    column((r) => r.idempotencyKey),
    column((r) => r.isReplayed),
    column((r) => r.userAgent),
    column((r) => r.requestBody),
    column((r) => r.isRequestBodyTruncated),
    column((r) => r.responseBody),
    column((r) => r.isResponseBodyTruncated),
  ];
  const statements: BoundStatement[] = [
    { statement: LOCK_POSITIONS },
    { statement: INSERT, values: lines },
    { statement: COUNT, values: countsOf(requests) },
  ];
  if (firsts.length > 0) statements.push({ statement: INSERT_FIRST, values: columnsOfFirsts(firsts) });
  await database.batch(statements, { durable: false });
}

function countsOf(requests: readonly LoggedRequest[]): unknown[][] {
  const counts = new Map<string, { readonly row: readonly unknown[]; requests: number }>();
  for (const { programId, environment, at, status, errorCode } of requests) {
    const startsAt = at.getTime() - (at.getTime() % COUNT_INTERVAL_MS);
    const name = `${programId} ${environment} ${startsAt} ${status} ${errorCode}`;
    const count = counts.get(name);
    if (count !== undefined) count.requests += 1;
    else {
      const row = [programId, environment, new Date(startsAt), status, errorCode ?? ''];
      counts.set(name, { row, requests: 1 });
    }
  }
  const rows = [...counts.values()].map(({ row, requests }) => [...row, requests]);
  return [0, 1, 2, 3, 4, 5].map((index) => rows.map((row) => row[index]));
}

function columnsOfFirsts(firsts: readonly FirstRequest[]): unknown[][] {
  return [
    firsts.map((first) => first.programId),
    firsts.map((first) => first.environment),
    firsts.map((first) => first.milestone),
    firsts.map((first) => first.at),
  ];
}

/**
 * An attempt begins with its id in the response that created it. `withAttemptId` checks the form: a
 * path may have any text there.
 */
const ATTEMPT_ID = `
  lower(case
    when route = '/v1/attempts' and left(response_body, 7) = '{"id":"' then substr(response_body, 8, 36)
    when route like '/v1/attempts/{attempt\\_id}%' then substr(path, length('/v1/attempts/') + 1, 36)
  end)`;

const LINE = `
  request_id as "requestId", program_id as "programId", environment, at, method, path, route, status,
  error_code as "errorCode", duration_ms as "durationMs", idempotency_key as "idempotencyKey",
  replayed as "isReplayed", position, ${ATTEMPT_ID} as "attemptId"`;

/** Null means any. */
export interface RequestFilter {
  /** 2, 4 or 5. */
  readonly statusClass: number | null;
  readonly errorCode: string | null;
  readonly method: string | null;
  readonly route: string | null;
  readonly idempotencyKey: string | null;
  /** In lower case. */
  readonly attemptId: string | null;
}

const MATCHES = `
  ($5::integer is null or status / 100 = $5)
  and ($6::text is null or "errorCode" = $6)
  and ($7::text is null or method = $7)
  and ($8::text is null or route = $8)
  and ($9::text is null or "idempotencyKey" = $9)
  and ($10::text is null or "attemptId" = $10)`;

/** The rows that a page reads, in its order. */
const windowOf = (columns: string, end: string) => `
  select ${columns} from requests where program_id = $1 and environment = $2 and position ${end}`;

const SELECT_NEWEST: Statement = {
  name: 'select_newest_request_position',
  text: `${windowOf('position', '> 0')} order by position desc limit 1`,
};

const list = (end: string, order: string) => `
  select * from (${windowOf(LINE, end)} order by position ${order} limit ${WINDOW_ROWS}) as read
  where ${MATCHES}
  order by position ${order}
  limit $4`;
const endOfWindow = (end: string, order: string) =>
  `${windowOf('position', end)} order by position ${order} offset ${WINDOW_ROWS - 1} limit 1`;

const LIST_OLDER: Statement = { name: 'list_older_requests', text: list('< $3', 'desc') };
const END_OF_OLDER: Statement = { name: 'end_of_older_requests', text: endOfWindow('< $3', 'desc') };
const LIST_NEWER: Statement = { name: 'list_newer_requests', text: list('> $3', 'asc') };
const END_OF_NEWER: Statement = { name: 'end_of_newer_requests', text: endOfWindow('> $3', 'asc') };

const LISTS = {
  older: { statement: LIST_OLDER, windowEnd: END_OF_OLDER },
  newer: { statement: LIST_NEWER, windowEnd: END_OF_NEWER },
} as const;

interface Part {
  readonly lines: readonly ListedLine[];
  /** Where the next page begins; null if this was the last. */
  readonly next: bigint | null;
}

async function readPart(
  database: Database,
  direction: keyof typeof LISTS,
  { programId, environment }: RequestScope,
  filter: RequestFilter,
  { from, limit }: { readonly from: bigint; readonly limit: number },
): Promise<Part> {
  const { statement, windowEnd } = LISTS[direction];
  const { statusClass, errorCode, method, route, idempotencyKey, attemptId } = filter;
  const values = [statusClass, errorCode, method, route, idempotencyKey, attemptId];
  const rows = await database.query<ListedLine>(statement, [programId, environment, from, limit + 1, ...values]);
  const lines = rows.slice(0, limit).map(withAttemptId);
  if (rows.length > limit) return { lines, next: lines.at(-1)?.position ?? null };
  if (values.every((value) => value === null)) return { lines, next: null };
  const [end] = await database.query<{ position: bigint }>(windowEnd, [programId, environment, from]);
  return { lines, next: end?.position ?? null };
}

/**
 * The newest requests, and the head after which newer ones are to be read. The head is read first,
 * and the page ends there: what becomes visible between the two reads is after the head.
 */
export async function listNewestRequests(
  database: Database,
  scope: RequestScope,
  filter: RequestFilter,
  limit: number,
): Promise<Part & { readonly head: bigint }> {
  const newest = await database.query<{ position: bigint }>(SELECT_NEWEST, [scope.programId, scope.environment]);
  const head = newest[0]?.position ?? 0n;
  return { ...(await readPart(database, 'older', scope, filter, { from: head + 1n, limit })), head };
}

/** Newest first, from below a position. */
export function listOlderRequests(
  database: Database,
  scope: RequestScope,
  filter: RequestFilter,
  page: { readonly below: bigint; readonly limit: number },
): Promise<Part> {
  return readPart(database, 'older', scope, filter, { from: page.below, limit: page.limit });
}

/** Oldest first, after a head; and the head at which the next page begins. */
export async function listNewerRequests(
  database: Database,
  scope: RequestScope,
  filter: RequestFilter,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<{ readonly lines: readonly ListedLine[]; readonly head: bigint }> {
  const { lines, next } = await readPart(database, 'newer', scope, filter, { from: after, limit });
  return { lines, head: next ?? lines.at(-1)?.position ?? after };
}

/** Whether a number can be a position: no cursor that Laurel issued has any other. */
export function isPosition(position: bigint): boolean {
  return position >= 0n && position < MAX_POSITION;
}

const SELECT_BY_ID: Statement = {
  name: 'select_request_of_any_program',
  text: `select ${LINE} from requests where request_id = $1`,
};

/** A request of any program, in either environment, without its bodies. */
export async function findRequestLine(database: Database, requestId: string): Promise<RequestLine | null> {
  const [found] = await database.query<RequestLine>(SELECT_BY_ID, [requestId]);
  return found ?? null;
}

const SELECT_ONE: Statement = {
  name: 'select_request',
  text: `
    select ${LINE}, user_agent as "userAgent", request_body as "requestBody",
      request_body_truncated as "isRequestBodyTruncated", response_body as "responseBody",
      response_body_truncated as "isResponseBodyTruncated"
    from requests
    where request_id = $1 and program_id = $2`,
};

/** A request of the program, in either environment. */
export async function findRequest(
  database: Database,
  { requestId, programId }: { readonly requestId: string; readonly programId: string },
): Promise<ListedRequest | null> {
  const [found] = await database.query<ListedRequest>(SELECT_ONE, [requestId, programId]);
  return found === undefined ? null : withAttemptId(found);
}

function withAttemptId<Line extends Derived>(line: Line): Line {
  return line.attemptId === null || isUuid(line.attemptId) ? line : { ...line, attemptId: null };
}

const SUMMARIZE: Statement = {
  name: 'summarize_requests',
  text: `
    select
      floor(extract(epoch from starts_at - $3::timestamptz) * 1000 / $5::double precision)::integer as bucket,
      status, error_code as "errorCode", sum(requests)::bigint as requests
    from request_counts
    where program_id = $1 and environment = $2 and starts_at >= $3 and starts_at < $4
    group by 1, 2, 3`,
};

export interface RequestSummary {
  readonly total: number;
  readonly errors4xx: number;
  readonly errors5xx: number;
  /** The most frequent; a response without a code counts as `http_<status>`. */
  readonly topErrors: readonly { readonly code: string; readonly count: number }[];
  readonly buckets: readonly {
    readonly from: Date;
    readonly ok: number;
    readonly errors4xx: number;
    readonly errors5xx: number;
  }[];
}

const TOP_ERRORS = 5;

/**
 * Counts the requests that arrived in a period, in buckets of the same length. They are counted by
 * five minutes: `from`, `to` and the length of a bucket should be multiples. Reads at most a few
 * rows for each five minutes, however many requests there were.
 */
export async function summarizeRequests(
  database: Database,
  {
    programId,
    environment,
    from,
    to,
    buckets: number,
  }: RequestScope & {
    readonly from: Date;
    readonly to: Date;
    readonly buckets: number;
  },
): Promise<RequestSummary> {
  const bucketMs = (to.getTime() - from.getTime()) / number;
  const rows = await database.query<{ bucket: number; status: number; errorCode: string; requests: bigint }>(
    SUMMARIZE,
    [programId, environment, from, to, bucketMs],
  );
  const buckets = Array.from({ length: number }, (_, index) => ({
    from: new Date(from.getTime() + index * bucketMs),
    ok: 0,
    errors4xx: 0,
    errors5xx: 0,
  }));
  const errors = new Map<string, number>();
  for (const { bucket: index, status, errorCode, requests } of rows) {
    const bucket = buckets[index];
    if (bucket === undefined) continue;
    const count = Number(requests);
    if (status < 400) bucket.ok += count;
    else {
      bucket[status < 500 ? 'errors4xx' : 'errors5xx'] += count;
      const code = errorCode === '' ? `http_${status}` : errorCode;
      errors.set(code, (errors.get(code) ?? 0) + count);
    }
  }
  const sumOf = (name: 'ok' | 'errors4xx' | 'errors5xx') => buckets.reduce((sum, bucket) => sum + bucket[name], 0);
  const [errors4xx, errors5xx] = [sumOf('errors4xx'), sumOf('errors5xx')];
  const topErrors = [...errors]
    .map(([code, count]) => ({ code, count }))
    .sort((one, other) => other.count - one.count || (one.code < other.code ? -1 : 1))
    .slice(0, TOP_ERRORS);
  return { total: sumOf('ok') + errors4xx + errors5xx, errors4xx, errors5xx, topErrors, buckets };
}

const SELECT_FIRST: Statement = {
  name: 'select_first_requests',
  text: 'select milestone, at from first_requests where program_id = $1 and environment = $2',
};

/** When the first request of each kind succeeded, as far as the log has seen; null if none did. */
export async function firstRequests(
  database: Database,
  { programId, environment }: RequestScope,
): Promise<Readonly<Record<Milestone, Date | null>>> {
  const rows = await database.query<{ milestone: Milestone; at: Date }>(SELECT_FIRST, [programId, environment]);
  const firsts: Record<Milestone, Date | null> = {
    key_used: null,
    player_linked: null,
    attempt_created: null,
    outcome_reported: null,
  };
  for (const { milestone, at } of rows) firsts[milestone] = at;
  return firsts;
}

const MAKE_PARTITIONS: Statement = { name: 'make_request_partitions', text: 'select make_request_partitions()' };
const DROP_PARTITIONS: Statement = {
  name: 'drop_request_partitions',
  text: 'select drop_request_partitions() as dropped',
};

/** Makes the partitions of the days around today, if they are missing. */
export async function makeRequestPartitions(database: Database): Promise<void> {
  await database.query(MAKE_PARTITIONS);
}

/** Drops the partitions of days that ended more than seven days ago. Returns their number. */
export async function dropRequestPartitions(database: Database): Promise<number> {
  const [row] = await database.query<{ dropped: number }>(DROP_PARTITIONS);
  return row?.dropped ?? 0;
}

const DELETE_COUNTS: Statement = {
  name: 'delete_old_request_counts',
  text: `
    with deleted as (
      delete from request_counts
      where ctid = any (array(select ctid from request_counts where starts_at < $1 limit $2 for update skip locked))
      returning 1)
    select count(*)::integer as count from deleted`,
};

export async function deleteOldRequestCounts(database: Database, before: Date, limit: number): Promise<number> {
  const [row] = await database.query<{ count: number }>(DELETE_COUNTS, [before, limit]);
  return row?.count ?? 0;
}
