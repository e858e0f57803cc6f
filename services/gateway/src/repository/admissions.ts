/** Who holds a key, and how often it was used in this window: both in one statement, for many keys at once, with their claims or without. */
import type { Database, Statement } from '@laurel/postgres';
import type { KeyEnvironment } from '../domain/api-key.ts';
import { type Completion, completing, completionColumns, inOrderOf, type KeyUse } from './idempotency-records.ts';

/** A key that resolved, and its window after the requests were counted. */
export interface AdmissionRow {
  /** Hexadecimal. */
  readonly keyHash: string;
  readonly keyId: string;
  readonly programId: string;
  readonly environment: KeyEnvironment;
  /** All requests of the key in the window so far. */
  readonly requests: number;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly windowEndsAt: number;
  readonly now: number;
}

const WINDOW_START = "date_bin($4::interval, statement_timestamp(), timestamptz 'epoch')";
const WINDOW_END = 'started_at + $4::interval';

const COUNT_ON = `
      on conflict (key_id) do update set
        started_at = greatest(w.started_at, excluded.started_at),
        requests = case when w.started_at >= excluded.started_at then w.requests else 0 end + excluded.requests,
        last_request_at = greatest(w.last_request_at, excluded.last_request_at)`;

/**
 * A key resolves when it is not revoked, its environment is accepted here, and its program may use it: a test key from the draft on,
 * a live key once approved, none while suspended, closed or scheduled for deletion.
 * Keys are counted in the order of their ids, so that batches of several replicas cannot deadlock.
 * Keys and programs are joined laterally with `limit 1`: that has one possible plan. As a plain join it was planned once, while
 * the tables were small, as a walk over every key (measured with 200 keys: 427 us a statement of one key, 747 us of five).
 * Every key that resolved was counted; they are joined fully all the same, because only a full join is never done row by row here.
 */
const COUNT: Statement = {
  name: 'count_admissions',
  text: `
    with resolved as (
      select asked.key_hash, asked.wanted, key.id as key_id, key.program_id, key.environment
      from unnest($1::text[], $2::integer[]) as asked (key_hash, wanted)
      cross join lateral (
        select * from api_keys where api_keys.key_hash = decode(asked.key_hash, 'hex') limit 1
      ) as key
      cross join lateral (
        select * from programs where programs.id = key.program_id limit 1
      ) as program
      where key.revoked_at is null
        and key.environment = any ($3::text[])
        and not program.deletion_scheduled
        and (program.status = 'approved' or (program.status = 'draft' and key.environment = 'test'))
    ),
    counted as (
      insert into rate_windows as w (key_id, started_at, requests, last_request_at)
      select key_id, ${WINDOW_START}, wanted, statement_timestamp()
      from resolved
      order by key_id
      ${COUNT_ON}
      returning key_id, requests, started_at
    ),
    windows as materialized (
      select key_hash, key_id, program_id, environment, requests, started_at
      from resolved
      full join counted using (key_id)
    )
    select
      key_hash as "keyHash",
      key_id as "keyId",
      program_id as "programId",
      environment,
      requests,
      ${WINDOW_END} as "windowEndsAt",
      clock_timestamp() as now
    from windows`,
};

/**
 * Counts, and claims for the keys that stay within their limit, for the price of one commit. It is for keys that resolved before: what
 * never changes of them comes along, so the statement only checks that they resolve still, its hash included, and looks nothing up.
 *
 * Locks are taken in one order: windows by key id (the final select reads them all before it asks for the first claim), then new records
 * by id, then existing ones by id (nobody reads `completed`, so it runs last). The arrays come in these orders, and no node of the plan
 * can change them. Each is a look-up by a primary key, for which there is one possible plan.
 *
 * A statement costs by its nodes, not by its rows: these cost a backend 125 us CPU for one key, and with look-ups and joins on top 181.
 */
const claiming = (carried: string): string => `
    with counted as (
      insert into rate_windows as w (key_id, started_at, requests, last_request_at)
      select key_id, ${WINDOW_START}, wanted, statement_timestamp()
      from unnest($1::uuid[], $2::integer[], $6::bytea[]) as asked (key_id, wanted, key_hash)
      where (
        select
          key.key_hash = asked.key_hash
          and key.revoked_at is null
          and key.environment = any ($3::text[])
          and (
            select
              not program.deletion_scheduled
              and (program.status = 'approved' or (program.status = 'draft' and key.environment = 'test'))
            from programs as program
            where program.id = key.program_id
          )
        from api_keys as key
        where key.id = asked.key_id
      )
      ${COUNT_ON}
      returning key_id, requests, started_at
    ),
    claimed as (
      insert into idempotency_records (id, operation_id, fingerprint, state, generation, created_at, claimed_at)
      select id, operation_id, fingerprint, 'claimed', 0, $11, $11
      from unnest($7::uuid[], $8::uuid[], $9::uuid[], $10::bytea[]) as use (key_id, id, operation_id, fingerprint)
      where (key_id in (select counted.key_id from counted where counted.requests <= $5)) is true
      on conflict (id) do nothing
      returning id
    )${carried}
    select key_id as "keyId", requests, ${WINDOW_END} as "windowEndsAt", clock_timestamp() as now
    from counted
    union all
    select id, null, null, null
    from claimed`;

const COUNT_AND_CLAIM: Statement = { name: 'count_admissions_and_claim', text: claiming('') };

/** The same, and writes the completions that wait. */
const COUNT_CLAIM_AND_COMPLETE: Statement = {
  name: 'count_admissions_claim_and_complete',
  text: claiming(`,
    completed as (${completing(12)})`),
};

const READ: Statement = {
  name: 'read_admission',
  text: `
    select key.id as "keyId", key.program_id as "programId", key.environment
    from (select * from api_keys where api_keys.key_hash = decode($1, 'hex') limit 1) as key
    cross join lateral (
      select * from programs where programs.id = key.program_id limit 1
    ) as program
    where key.revoked_at is null
      and key.environment = any ($2::text[])
      and not program.deletion_scheduled
      and (program.status = 'approved' or (program.status = 'draft' and key.environment = 'test'))`,
};

/** A key that resolved before, and how many of its requests are to be counted. */
export type KnownKey = Pick<AdmissionRow, 'keyHash' | 'keyId' | 'programId' | 'environment'> & {
  readonly wanted: number;
};

/** A request that comes with its use of an idempotency key. */
export type Claimant = KeyUse & { readonly keyId: string };

export interface CountOptions {
  readonly acceptedEnvironments: readonly string[];
  readonly windowMs: number;
}

/** Only keys that resolve come back, in no order. */
export async function countAdmissions(
  database: Database,
  wanted: ReadonlyMap<string, number>,
  options: CountOptions,
): Promise<AdmissionRow[]> {
  const rows = await database.query<AdmissionRow & WindowRow>(COUNT, [
    [...wanted.keys()],
    [...wanted.values()],
    options.acceptedEnvironments,
    intervalOf(options),
  ]);
  return rows.map((row) => ({ ...row, ...instantsOf(row) }));
}

/**
 * Durable. The same count; with it the keys' uses claim their records, except those of a key that is beyond `limit` now or whose record
 * exists, and completions are written. No two uses may name one record, and no two keys be one.
 */
export async function countAdmissionsAndClaim(
  database: Database,
  keys: readonly KnownKey[],
  options: CountOptions & {
    readonly limit: number;
    readonly uses: readonly Claimant[];
    readonly completions: readonly Completion[];
    readonly now: Date;
  },
): Promise<{ readonly rows: readonly AdmissionRow[]; readonly claimedIds: ReadonlySet<string> }> {
  const { limit, completions, now } = options;
  const keysInOrder = inOrderOf(keys, (key) => key.keyId);
  const uses = inOrderOf(options.uses, (use) => use.recordId);
  const values = [
    keysInOrder.map((key) => key.keyId),
    keysInOrder.map((key) => key.wanted),
    options.acceptedEnvironments,
    intervalOf(options),
    limit,
    keysInOrder.map((key) => `\\x${key.keyHash}`),
    uses.map((use) => use.keyId),
    uses.map((use) => use.recordId),
    uses.map((use) => use.operationId),
    uses.map((use) => `\\x${use.fingerprint}`),
    now,
  ];
  const found =
    completions.length === 0
      ? await database.query<WindowRow | ClaimedRow>(COUNT_AND_CLAIM, values)
      : await database.query<WindowRow | ClaimedRow>(COUNT_CLAIM_AND_COMPLETE, [
          ...values,
          ...completionColumns(completions),
        ]);

  const keyOf = new Map(keys.map((key) => [key.keyId, key]));
  const rows: AdmissionRow[] = [];
  const claimedIds = new Set<string>();
  for (const row of found) {
    if (row.requests === null) {
      claimedIds.add(row.keyId);
      continue;
    }
    const key = keyOf.get(row.keyId);
    if (key === undefined) throw new Error('the database counted a key that nobody asked for');
    rows.push({ ...key, requests: row.requests, ...instantsOf(row) });
  }
  return { rows, claimedIds };
}

interface WindowRow {
  readonly keyId: string;
  readonly requests: number;
  readonly windowEndsAt: Date;
  readonly now: Date;
}

/** A record in the place of a key. */
interface ClaimedRow {
  readonly keyId: string;
  readonly requests: null;
}

function instantsOf(row: Pick<WindowRow, 'windowEndsAt' | 'now'>): Pick<AdmissionRow, 'windowEndsAt' | 'now'> {
  return { windowEndsAt: row.windowEndsAt.getTime(), now: row.now.getTime() };
}

function intervalOf({ windowMs }: CountOptions): string {
  return `${windowMs} milliseconds`;
}

/** Who holds the key, without counting a request. */
export async function readAdmission(
  database: Database,
  keyHash: string,
  acceptedEnvironments: readonly string[],
): Promise<Pick<AdmissionRow, 'keyId' | 'programId' | 'environment'> | undefined> {
  const rows = await database.query<AdmissionRow>(READ, [keyHash, acceptedEnvironments]);
  return rows[0];
}

/** Writes down when keys were last used, for people to see; the windows themselves may be lost. One replica at a time does it. */
export function recordKeyUse(database: Database): Promise<unknown> {
  return database.query({
    text: `
      with turn as materialized (
        select pg_try_advisory_xact_lock(hashtextextended('record key use', 0)) as is_ours
      )
      update api_keys
      set last_used_at = rate_windows.last_request_at
      from rate_windows, turn
      where turn.is_ours
        and rate_windows.key_id = api_keys.id
        and rate_windows.last_request_at > coalesce(api_keys.last_used_at, '-infinity')`,
  });
}
