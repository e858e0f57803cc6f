/**
 * The request log (0017_keep_requests_in_batches.sql): written in batches after the responses, read
 * by the portal. A row has the requests of a program and environment since the last write. Lists
 * are ordered by position: the order in which the requests were written. The content of a batch may
 * be compressed, so lists are filtered here and not by the database.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { BoundStatement, Database, Statement } from '@laurel/postgres';
import { instantOfId, isUuid, leastIdAt } from '@laurel/values/ids';
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

export interface FirstRequestOfMilestone extends RequestScope {
  readonly milestone: Milestone;
  readonly at: Date;
}

/** What the log derives from a request when it is read. */
interface DerivedFacts {
  readonly position: bigint;
  /** The attempt that the path names, or that the request created; null if the log knows none. */
  readonly attemptId: string | null;
}

/** A line as the lists return it. */
export type ListedLine = RequestLine & DerivedFacts;

export type ListedRequest = LoggedRequest & DerivedFacts;

/** Requests are counted per interval of this length. */
export const COUNT_INTERVAL_MS = 300_000;
/**
 * The most requests that are read for a page of a filtered list. The page may therefore have fewer
 * lines than its limit, or none, although another page follows.
 */
const MAX_REQUESTS_READ = 10_000;
/** The same limit in bytes of unpacked requests, for programs with large bodies. */
const MAX_BYTES_READ = 16 * 1024 * 1024;
/** About this many requests are read by one query: the process unpacks them in some 3 ms. */
const REQUESTS_AT_ONCE = 2_000;
/** A query ends with the batch that reaches this sum of stored bytes. */
const STORED_BYTES_AT_ONCE = 2 * 1024 * 1024;
const FIRST_BATCHES = 20;
/** A request's position is its batch's number times this, plus its place in the batch. */
const PLACES_PER_BATCH = 1_000n;
const MAX_POSITION = 2n ** 63n - 1n;
/**
 * The time between the id of a request and the greatest id in its batch is less than this. A
 * request takes seconds, then waits seconds for its write, and its batch has only requests of the
 * same write.
 */
const MAX_WRITTEN_AFTER_MS = 600_000;

/**
 * The lock is held until the commit, so positions become visible in order: a reader that continues
 * after a position misses none. Replicas that write at the same time wait for each other's commit.
 */
const LOCK_POSITIONS: Statement = {
  name: 'lock_request_positions',
  text: `select pg_advisory_xact_lock(hashtextextended('laurel request positions', 0))`,
};

const INSERT: Statement = {
  name: 'insert_request_batches',
  text: `
    insert into request_batches (program_id, environment, first_request_id, last_request_id, line_count, lines)
    select *
    from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::smallint[], $6::bytea[])
    order by 1, 2`,
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
  firsts: readonly FirstRequestOfMilestone[],
): Promise<void> {
  const statements: BoundStatement[] = [
    { statement: LOCK_POSITIONS },
    { statement: INSERT, values: columnsOfBatches(requests) },
    { statement: COUNT, values: countsOf(requests) },
  ];
  if (firsts.length > 0) statements.push({ statement: INSERT_FIRST, values: columnsOfFirsts(firsts) });
  await database.batch(statements, { durable: false });
}

/** A batch for each program and environment, its requests in the order of their arrival. */
function columnsOfBatches(requests: readonly LoggedRequest[]): unknown[][] {
  const inOrder = requests.toSorted((one, other) => (one.requestId < other.requestId ? -1 : 1));
  const byScope = Map.groupBy(inOrder, ({ programId, environment }) => `${programId} ${environment}`);
  const rows = [...byScope.values()].map((own) => {
    const { programId, environment, requestId } = own[0] as LoggedRequest;
    return [programId, environment, requestId, own.at(-1)?.requestId, own.length, pack(own)];
  });
  return [0, 1, 2, 3, 4, 5].map((index) => rows.map((row) => row[index]));
}

/**
 * A shorter batch is stored as it is. Such a batch fits into a page beside others. Setting up a
 * compressor takes as long as compressing eight lines, and many programs with one line each would
 * cost this time for every line.
 */
const UNCOMPRESSED_BYTES = 1_900;
/** The lowest quality: it compresses these lines to a fortieth, in a third of Brotli's time. */
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** The first byte of a batch that is not compressed: a JSON array. A zstd frame has another. */
const ARRAY_START = '['.charCodeAt(0);

/**
 * Batches are compressed in this thread: a batch of 250 lines takes 0.5 ms, and the bodies of a
 * program add only a bounded time (BYTES_PER_SECOND in request-log.ts). A thread of the pool
 * would cost each batch 50 us more.
 */
function pack(requests: readonly LoggedRequest[]): Buffer {
  const lines = Buffer.from(JSON.stringify(requests));
  return lines.length <= UNCOMPRESSED_BYTES ? lines : zstdCompressSync(lines, COMPRESSION);
}

function unpack(packed: Buffer): Buffer {
  return packed[0] === ARRAY_START ? packed : zstdDecompressSync(packed);
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

function columnsOfFirsts(firsts: readonly FirstRequestOfMilestone[]): unknown[][] {
  return [
    firsts.map((first) => first.programId),
    firsts.map((first) => first.environment),
    firsts.map((first) => first.milestone),
    firsts.map((first) => first.at),
  ];
}

/** Which requests to list; a filter that is null allows any. */
export interface RequestFilter {
  /** The first digit of the status: 2, 4 or 5. */
  readonly statusClass: number | null;
  readonly errorCode: string | null;
  readonly method: string | null;
  readonly route: string | null;
  readonly idempotencyKey: string | null;
  /** The id of an attempt, in lower case. */
  readonly attemptId: string | null;
}

function matches(line: ListedRequest, filter: RequestFilter): boolean {
  return (
    (filter.statusClass ?? Math.floor(line.status / 100)) === Math.floor(line.status / 100) &&
    (filter.errorCode ?? line.errorCode) === line.errorCode &&
    (filter.method ?? line.method) === line.method &&
    (filter.route ?? line.route) === line.route &&
    (filter.idempotencyKey ?? line.idempotencyKey) === line.idempotencyKey &&
    (filter.attemptId ?? line.attemptId) === line.attemptId
  );
}

const SELECT_NEWEST: Statement = {
  name: 'select_newest_request_position',
  text: `
    select batch * ${PLACES_PER_BATCH} + line_count - 1 as position
    from request_batches
    where program_id = $1 and environment = $2
    order by batch desc
    limit 1`,
};

interface Batch {
  readonly batch: bigint;
  readonly lineCount: number;
  readonly lines: Buffer;
}

const BATCH = 'batch, line_count as "lineCount", lines';

/** The length of a batch is in its row, so the sum reads no batch that is not returned. */
const batchesFrom = (comparison: '<=' | '>=', order: 'asc' | 'desc') => `
  select ${BATCH}
  from (
    select *, sum(octet_length(lines)) over (order by batch ${order}) - octet_length(lines) as bytes_before
    from request_batches
    where program_id = $1 and environment = $2 and batch ${comparison} $3
    order by batch ${order}
    limit $4
  ) found
  where bytes_before < ${STORED_BYTES_AT_ONCE}
  order by batch ${order}`;

const BATCHES_DOWN: Statement = { name: 'request_batches_down_from', text: batchesFrom('<=', 'desc') };
const BATCHES_UP: Statement = { name: 'request_batches_up_from', text: batchesFrom('>=', 'asc') };

/** Yields batches in the direction of reading, from the batch of a position on. */
async function* batchesOf(
  database: Database,
  direction: 'older' | 'newer',
  { programId, environment }: RequestScope,
  from: bigint,
): AsyncGenerator<Batch> {
  const statement = direction === 'older' ? BATCHES_DOWN : BATCHES_UP;
  const step = direction === 'older' ? -1n : 1n;
  let limit = FIRST_BATCHES;
  for (let next = from / PLACES_PER_BATCH; ; ) {
    const batches = await database.query<Batch>(statement, [programId, environment, next, limit]);
    yield* batches;
    const last = batches.at(-1);
    const bytes = batches.reduce((sum, { lines }) => sum + lines.length, 0);
    if (last === undefined || (batches.length < limit && bytes < STORED_BYTES_AT_ONCE)) return;
    next = last.batch + step;
    const requests = batches.reduce((sum, { lineCount }) => sum + lineCount, 0);
    limit = Math.ceil((REQUESTS_AT_ONCE * batches.length) / requests);
  }
}

interface UnpackedBatch {
  /** In the order of their positions, with what is derived from them. */
  readonly requests: ListedRequest[];
  readonly bytes: number;
}

function unpackBatch({ batch, lines }: Batch): UnpackedBatch {
  const unpacked = unpack(lines);
  const logged = JSON.parse(unpacked.toString()) as (LoggedRequest & { at: string })[];
  const requests = logged.map((request, place) => {
    const position = batch * PLACES_PER_BATCH + BigInt(place);
    return { ...request, at: new Date(request.at), position, attemptId: attemptIdOf(request) };
  });
  return { requests, bytes: unpacked.length };
}

const CREATED_ATTEMPT = /^\{"id":"([^"]{36})"/;
const ATTEMPT_IN_PATH = /^\/v1\/attempts\/(.{36})/;

/**
 * The response that creates an attempt begins with the attempt's id. The text in a path may be
 * anything.
 */
function attemptIdOf({ route, path, responseBody }: LoggedRequest): string | null {
  const found =
    route === '/v1/attempts'
      ? CREATED_ATTEMPT.exec(responseBody ?? '')
      : route.startsWith('/v1/attempts/{attempt_id}')
        ? ATTEMPT_IN_PATH.exec(path)
        : null;
  const id = found?.[1]?.toLowerCase();
  return id !== undefined && isUuid(id) ? id : null;
}

interface Part {
  readonly lines: readonly ListedLine[];
  /** Where the next page begins; null if this was the last. */
  readonly next: bigint | null;
}

/** A page of the requests below (`older`) or after (`newer`) a position. */
async function readPart(
  database: Database,
  direction: 'older' | 'newer',
  scope: RequestScope,
  filter: RequestFilter,
  { from, limit }: { readonly from: bigint; readonly limit: number },
): Promise<Part> {
  const isOlder = direction === 'older';
  const lines: ListedLine[] = [];
  const read = { requests: 0, bytes: 0 };
  for await (const batch of batchesOf(database, direction, scope, from)) {
    const { requests, bytes } = unpackBatch(batch);
    for (const line of isOlder ? requests.reverse() : requests) {
      if ((isOlder ? line.position >= from : line.position <= from) || !matches(line, filter)) continue;
      if (lines.length === limit) return { lines, next: lines.at(-1)?.position ?? null };
      lines.push(line);
    }
    read.requests += batch.lineCount;
    read.bytes += bytes;
    if (read.requests >= MAX_REQUESTS_READ || read.bytes >= MAX_BYTES_READ) {
      const [least, greatest] = [
        batch.batch * PLACES_PER_BATCH,
        batch.batch * PLACES_PER_BATCH + BigInt(batch.lineCount - 1),
      ];
      return { lines, next: isOlder ? least : greatest };
    }
  }
  return { lines, next: null };
}

/**
 * The newest requests, and the head after which newer ones are to be read. The head is read first,
 * and the page has nothing after it: requests that become visible between the two reads are after
 * the head.
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

/** The requests below a position, newest first. */
export function listOlderRequests(
  database: Database,
  scope: RequestScope,
  filter: RequestFilter,
  page: { readonly below: bigint; readonly limit: number },
): Promise<Part> {
  return readPart(database, 'older', scope, filter, { from: page.below, limit: page.limit });
}

/** The requests after the position `after`, oldest first. The next page begins after `head`. */
export async function listNewerRequests(
  database: Database,
  scope: RequestScope,
  filter: RequestFilter,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<{ readonly lines: readonly ListedLine[]; readonly head: bigint }> {
  const { lines, next } = await readPart(database, 'newer', scope, filter, { from: after, limit });
  return { lines, head: next ?? lines.at(-1)?.position ?? after };
}

/** Whether a number can be a position. A cursor with any other number was not issued by Laurel. */
export function isPosition(position: bigint): boolean {
  return position >= 0n && position < MAX_POSITION;
}

const SELECT_BATCHES_AROUND: Statement = {
  name: 'select_request_batches_around_id',
  text: `
    select ${BATCH}
    from request_batches
    where last_request_id between $1 and $2 and first_request_id <= $1 and ($3::uuid is null or program_id = $3)
    order by last_request_id`,
};

/** A request of any program, in either environment. */
export function findRequestLine(database: Database, requestId: string): Promise<ListedLine | null> {
  return findById(database, requestId, null);
}

/** A request of the program, in either environment. */
export function findRequest(
  database: Database,
  { requestId, programId }: { readonly requestId: string; readonly programId: string },
): Promise<ListedRequest | null> {
  return findById(database, requestId, programId);
}

/** Null for `programId` means any program. */
async function findById(
  database: Database,
  requestId: string,
  programId: string | null,
): Promise<ListedRequest | null> {
  const values = [requestId, latestBatchOf(requestId), programId];
  for (const batch of await database.query<Batch>(SELECT_BATCHES_AROUND, values)) {
    const found = unpackBatch(batch).requests.find((line) => line.requestId === requestId);
    if (found !== undefined) return found;
  }
  return null;
}

/** An upper bound: no batch with a greater id contains the request. */
function latestBatchOf(requestId: string): string {
  return leastIdAt(new Date(instantOfId(requestId).getTime() + MAX_WRITTEN_AFTER_MS));
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
 * Counts the requests that arrived in a period, in buckets of the same length. The stored counts
 * cover five minutes each, so `from`, `to` and the length of a bucket should be multiples of five
 * minutes. Reads at most a few rows for each five minutes, however many requests there were.
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

/**
 * When the first request of each kind succeeded, as far as the log knows; null if none has
 * succeeded.
 */
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
