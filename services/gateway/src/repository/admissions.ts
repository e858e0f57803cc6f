/**
 * Finds the principals of keys and counts requests in their windows: one statement for many keys,
 * with or without locks of idempotency keys.
 */
import type { Database, Statement } from '@laurel/postgres';
import type { ApiKeyEnvironment } from '../domain/api-key.ts';
import { OPEN_ENVIRONMENTS } from '../domain/program.ts';
import {
  type Completion,
  completing,
  completionColumns,
  type IdempotencyUse,
  inOrderOf,
} from './idempotency-records.ts';

/** A key that resolved, and its window after the requests were counted. */
export interface AdmissionRow {
  /** This process's identifier of the key: its hash under the current pepper, hexadecimal. */
  readonly keyHash: string;
  /** The stored hash. It equals `keyHash` unless the pepper has changed since it was stored. */
  readonly storedHash: string;
  /** The version of the pepper under which `storedHash` was made. */
  readonly pepperVersion: number;
  readonly apiKeyId: string;
  readonly programId: string;
  readonly environment: ApiKeyEnvironment;
  /**
   * The id of the window in which the key's requests count. A program has one window in each
   * environment.
   */
  readonly windowId: string;
  /** All requests of the window so far. */
  readonly requests: number;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly windowEndsAt: number;
  readonly now: number;
}

/** The rule of domain/program.ts as rows of SQL. */
const STATUS_AND_ENVIRONMENT = Object.entries(OPEN_ENVIRONMENTS)
  .flatMap(([status, environments]) => environments.map((environment) => `('${status}', '${environment}')`))
  .join(', ');

/**
 * Whether `key`, a row of api_keys, resolves: it is not revoked, its environment is accepted here,
 * and its program's status allows it (domain/program.ts). No key resolves while its program is
 * scheduled for deletion. These conditions change, so they are never taken from a cache: every
 * statement evaluates them, by this one predicate (decision 21). The program of each key is looked
 * up by its primary key, for which there is only one possible plan.
 */
const resolves = (acceptedEnvironments: '$2' | '$3'): string => `
  key.revoked_at is null
  and key.environment = any (${acceptedEnvironments}::text[])
  and (
    select not program.deletion_scheduled
      and (program.status, key.environment) in (${STATUS_AND_ENVIRONMENT})
    from programs as program where program.id = key.program_id
  )`;

const WINDOW_START = "date_bin($4::interval, statement_timestamp(), timestamptz 'epoch')";
const WINDOW_END = 'started_at + $4::interval';

export const COUNT_ON_CONFLICT = `
      on conflict (subject) do update set
        key_id = excluded.key_id,
        started_at = greatest(w.started_at, excluded.started_at),
        requests = case when w.started_at >= excluded.started_at then w.requests else 0 end + excluded.requests,
        last_request_at = greatest(w.last_request_at, excluded.last_request_at)`;

/**
 * Resolves keys and counts their requests.
 * - A key is looked up by its hash under every configured pepper; at most one of these hashes is
 *   stored.
 * - Requests count in the window of the key's program and environment. At most one key works there,
 *   so no statement has a window twice. The window stores which key was used last.
 * - Windows are counted in the order of their subjects, so that batches of several replicas cannot
 *   deadlock.
 * - Keys are joined laterally with `limit 1`, for which there is one possible plan. A plain join,
 *   planned while the tables are small, keeps a plan that scans every key (measured with 200 keys:
 *   427 us for a statement of one key, 747 us for one of five).
 * - Every key that resolved has a count. The counts are nevertheless joined by a full join, because
 *   only a full join is never executed row by row here.
 */
const COUNT: Statement = {
  name: 'count_admissions',
  text: `
    with resolved as (
      select asked.key_hash, asked.wanted, key.id as key_id, key.program_id, key.environment, key.window_id, key.pepper_version
      from unnest($1::text[], $2::integer[]) as asked (key_hash, wanted)
      cross join lateral (
        select * from api_keys where api_keys.key_hash = decode(asked.key_hash, 'hex') limit 1
      ) as key
      where ${resolves('$3')}
    ),
    counted as (
      insert into request_windows as w (subject, key_id, started_at, requests, last_request_at)
      select window_id, key_id, ${WINDOW_START}, wanted, statement_timestamp()
      from resolved
      order by window_id
      ${COUNT_ON_CONFLICT}
      returning key_id, requests, started_at
    ),
    windows as materialized (
      select key_hash, pepper_version, key_id, program_id, environment, window_id, requests, started_at
      from resolved
      full join counted using (key_id)
    )
    select
      key_hash as "storedHash",
      pepper_version as "pepperVersion",
      key_id as "apiKeyId",
      program_id as "programId",
      environment,
      window_id as "windowId",
      requests,
      ${WINDOW_END} as "windowEndsAt",
      clock_timestamp() as now
    from windows`,
};

/**
 * For API keys found in the cache: counts their requests, and locks the idempotency records of the
 * API keys within their rate limit, in one commit.
 *
 * The caller passes in the facts about an API key that never change, so the statement does not look
 * them up. It checks that the API key still resolves, and that its stored hash is the cached hash
 * or one made since then under a newer pepper.
 *
 * Locks are taken in one order: windows by subject (the final select reads them all before it asks
 * for the first idempotency lock), then new records by id, then existing ones by id (no query reads
 * `completed`, so it runs last). The arrays are in these orders, and no node of the plan can change
 * them. Each is a look-up by primary key, for which there is one possible plan.
 *
 * The cost of a statement depends on the nodes of its plan, not on its rows. This plan takes 125 us
 * of a backend's CPU for one key; with look-ups and joins it would take 181 us.
 */
const countingAndLocking = (carried: string): string => `
    with counted as (
      insert into request_windows as w (subject, key_id, started_at, requests, last_request_at)
      select window_id, key_id, ${WINDOW_START}, wanted, statement_timestamp()
      from unnest($12::uuid[], $1::uuid[], $2::integer[], $6::bytea[], $13::integer[])
        as asked (window_id, key_id, wanted, key_hash, pepper_version)
      where (
        select
          (key.key_hash = asked.key_hash or key.pepper_version > asked.pepper_version) and ${resolves('$3')}
        from api_keys as key
        where key.id = asked.key_id
      )
      ${COUNT_ON_CONFLICT}
      returning key_id, requests, started_at
    ),
    locked as (
      insert into idempotency_records (id, operation_id, fingerprint, state, generation, created_at, locked_at)
      select id, operation_id, fingerprint, 'locked', 0, $11, $11
      from unnest($7::uuid[], $8::uuid[], $9::uuid[], $10::bytea[]) as use (key_id, id, operation_id, fingerprint)
      where (key_id in (select counted.key_id from counted where counted.requests <= $5)) is true
      on conflict (id) do nothing
      returning id
    )${carried}
    select key_id as "apiKeyId", requests, ${WINDOW_END} as "windowEndsAt", clock_timestamp() as now
    from counted
    union all
    select id, null, null, null
    from locked`;

const COUNT_AND_LOCK: Statement = { name: 'count_admissions_and_lock_keys', text: countingAndLocking('') };

/** The statement above, extended so that it also writes the waiting completions. */
const COUNT_LOCK_AND_COMPLETE: Statement = {
  name: 'count_admissions_lock_keys_and_complete',
  text: countingAndLocking(`,${completing(14)}`),
};

const READ: Statement = {
  name: 'read_admission',
  text: `
    select key.id as "apiKeyId", key.program_id as "programId", key.environment, key.window_id as "windowId"
    from (select * from api_keys where api_keys.key_hash = any ($1::bytea[]) limit 1) as key
    where ${resolves('$2')}`,
};

/** A key as presented. */
export interface PresentedKey {
  /** This process's identifier of the key: its hash under the current pepper, hexadecimal. */
  readonly keyHash: string;
  /** The hashes under which the key may be stored: one under each pepper, hexadecimal. */
  readonly storedAs: readonly string[];
}

/** A key, and how many of its requests to count. */
export type AskedKey = PresentedKey & { readonly wanted: number };

/** An API key found in the cache, and how many of its requests to count. */
export type KnownKey = Omit<AdmissionRow, 'requests' | 'windowEndsAt' | 'now'> & { readonly wanted: number };

/** A request with its use of an idempotency key. */
export type RequestedLock = IdempotencyUse & { readonly apiKeyId: string };

export interface CountOptions {
  readonly acceptedEnvironments: readonly string[];
  readonly windowMs: number;
}

/** Returns only keys that resolve, in no order. */
export async function countAdmissions(
  database: Database,
  asked: readonly AskedKey[],
  options: CountOptions,
): Promise<AdmissionRow[]> {
  const keyHashOf = new Map(asked.flatMap(({ keyHash, storedAs }) => storedAs.map((hash) => [hash, keyHash])));
  const rows = await database.query<AdmissionRow & WindowRow>(COUNT, [
    [...keyHashOf.keys()],
    asked.flatMap(({ storedAs, wanted }) => storedAs.map(() => wanted)),
    options.acceptedEnvironments,
    intervalOf(options),
  ]);
  return rows.map((row) => ({ ...row, keyHash: keyHashOf.get(row.storedHash) ?? '', ...instantsOf(row) }));
}

/**
 * Counts requests, locks their idempotency records and writes completions, all in one statement. A
 * record is not locked if its API key exceeds `limit` after the count, or if the record exists. No
 * two uses may name one record, and no two keys may be the same. Not durable (decision 23).
 */
export async function countAdmissionsAndLockKeys(
  database: Database,
  keys: readonly KnownKey[],
  options: CountOptions & {
    readonly limit: number;
    readonly uses: readonly RequestedLock[];
    readonly completions: readonly Completion[];
    readonly now: Date;
  },
): Promise<{ readonly rows: readonly AdmissionRow[]; readonly lockedIds: ReadonlySet<string> }> {
  const { limit, completions, now } = options;
  const keysInOrder = inOrderOf(keys, (key) => key.windowId);
  const uses = inOrderOf(options.uses, (use) => use.recordId);
  const values = [
    keysInOrder.map((key) => key.apiKeyId),
    keysInOrder.map((key) => key.wanted),
    options.acceptedEnvironments,
    intervalOf(options),
    limit,
    keysInOrder.map((key) => `\\x${key.storedHash}`),
    uses.map((use) => use.apiKeyId),
    uses.map((use) => use.recordId),
    uses.map((use) => use.operationId),
    uses.map((use) => `\\x${use.fingerprint}`),
    now,
    keysInOrder.map((key) => key.windowId),
    keysInOrder.map((key) => key.pepperVersion),
  ];
  const found = await (completions.length === 0
    ? database.write<WindowRow | LockedRow>(COUNT_AND_LOCK, values, { durable: false })
    : database.write<WindowRow | LockedRow>(COUNT_LOCK_AND_COMPLETE, [...values, ...completionColumns(completions)], {
        durable: false,
      }));

  const keyOf = new Map(keys.map((key) => [key.apiKeyId, key]));
  const rows: AdmissionRow[] = [];
  const lockedIds = new Set<string>();
  for (const row of found) {
    if (row.requests === null) {
      lockedIds.add(row.apiKeyId);
      continue;
    }
    const key = keyOf.get(row.apiKeyId);
    if (key === undefined) throw new Error('the database counted a key that was not requested');
    rows.push({ ...key, requests: row.requests, ...instantsOf(row) });
  }
  return { rows, lockedIds };
}

interface WindowRow {
  readonly apiKeyId: string;
  readonly requests: number;
  readonly windowEndsAt: Date;
  readonly now: Date;
}

/** A row of the result for a locked record: the column of key ids has the id of the record. */
interface LockedRow {
  readonly apiKeyId: string;
  readonly requests: null;
}

function instantsOf(row: Pick<WindowRow, 'windowEndsAt' | 'now'>): Pick<AdmissionRow, 'windowEndsAt' | 'now'> {
  return { windowEndsAt: row.windowEndsAt.getTime(), now: row.now.getTime() };
}

function intervalOf({ windowMs }: CountOptions): string {
  return `${windowMs} milliseconds`;
}

/** The principal of the key, without counting a request. */
export async function readAdmission(
  database: Database,
  storedAs: readonly string[],
  acceptedEnvironments: readonly string[],
): Promise<Pick<AdmissionRow, 'apiKeyId' | 'programId' | 'environment' | 'windowId'> | undefined> {
  const rows = await database.query<AdmissionRow>(READ, [storedAs.map((hash) => `\\x${hash}`), acceptedEnvironments]);
  return rows[0];
}

// The statement skips a key that another transaction holds, and the next run records that key. So
// it never waits for a transaction.
const RECORD_KEY_USE: Statement = {
  text: `
    with turn as materialized (
      select pg_try_advisory_xact_lock(hashtextextended('record key use', 0)) as is_ours
    ),
    used as materialized (
      select api_keys.id, request_windows.last_request_at
      from turn
      join request_windows on turn.is_ours
      join api_keys on api_keys.id = request_windows.key_id
      where request_windows.last_request_at > coalesce(api_keys.last_used_at, '-infinity')
      for no key update of api_keys skip locked
    )
    update api_keys set last_used_at = used.last_request_at from used where api_keys.id = used.id`,
};

/**
 * Records when keys were last used. The times are only for display: the windows from which they are
 * read may be lost. One replica at a time records them.
 */
export function recordKeyUse(database: Database): Promise<unknown> {
  return database.query(RECORD_KEY_USE);
}
