/** Who holds a key, and how often it was used in this window: both in one statement, for many keys at once, with their claims or without. */
import type { Database, Statement } from '@laurel/postgres';
import type { KeyEnvironment } from '../domain/api-key.ts';
import { type Completion, completing, completionColumns, type KeyUse, useColumns } from './idempotency-records.ts';

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

/**
 * A key resolves when it is not revoked, its environment is accepted here, and its program may use it: a test key from the draft on,
 * a live key once approved, none while suspended, closed or scheduled for deletion.
 * Keys are counted in the order of their ids, so that batches of several replicas cannot deadlock.
 * Keys and programs are joined laterally with `limit 1`: that has one possible plan. As a plain join it was planned once, while
 * the tables were small, as a walk over every key (measured with 200 keys: 427 us a statement of one key, 747 us of five).
 * Every key that resolved was counted; they are joined fully all the same, because only a full join is never done row by row here.
 */
const RESOLVED_AND_COUNTED = `
    resolved as (
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
      select key_id, date_bin($4::interval, statement_timestamp(), timestamptz 'epoch'), wanted, statement_timestamp()
      from resolved
      order by key_id
      on conflict (key_id) do update set
        started_at = greatest(w.started_at, excluded.started_at),
        requests = case when w.started_at >= excluded.started_at then w.requests else 0 end + excluded.requests,
        last_request_at = greatest(w.last_request_at, excluded.last_request_at)
      returning key_id, started_at, requests
    ),
    windows as materialized (
      select key_hash, key_id, program_id, environment, requests, started_at
      from resolved
      full join counted using (key_id)
    )`;

const WINDOW_COLUMNS = `
      key_hash as "keyHash",
      key_id as "keyId",
      program_id as "programId",
      environment,
      requests,
      (extract(epoch from started_at + $4::interval) * 1000)::double precision as "windowEndsAt",
      (extract(epoch from clock_timestamp()) * 1000)::double precision as now`;

const COUNT: Statement = {
  name: 'count_admissions',
  text: `
    with ${RESOLVED_AND_COUNTED}
    select ${WINDOW_COLUMNS}
    from windows`,
};

/**
 * Counts, claims for the keys that stay within their limit, and writes the completions that wait, for the price of one commit.
 * Locks are taken in one order: windows by key id (the sort below needs them all before it gives the first claim), then new records by
 * id, then existing ones by id (nobody reads `completed`, so it runs last).
 */
const COUNT_AND_CLAIM: Statement = {
  name: 'count_admissions_and_claim',
  text: `
    with ${RESOLVED_AND_COUNTED},
    claimed as (
      insert into idempotency_records (id, operation_id, fingerprint, state, generation, created_at, claimed_at)
      select use.id, use.operation_id, decode(use.fingerprint, 'hex'), 'claimed', 0, $10, $10
      from unnest($6::text[], $7::uuid[], $8::uuid[], $9::text[]) as use (key_hash, id, operation_id, fingerprint)
      where (use.key_hash in (select key_hash from windows where requests <= $5)) is true
      order by use.id
      on conflict (id) do nothing
      returning id
    ),
    completed as (${completing(11)})
    select ${WINDOW_COLUMNS}, null as "claimedId"
    from windows
    union all
    select null, null, null, null, null, null, null, claimed.id
    from claimed`,
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

/** A request that comes with its use of an idempotency key. */
export type Claimant = KeyUse & { readonly keyHash: string };

export interface CountOptions {
  readonly acceptedEnvironments: readonly string[];
  readonly windowMs: number;
}

/** Only keys that resolve come back, in no order. */
export function countAdmissions(
  database: Database,
  wanted: ReadonlyMap<string, number>,
  options: CountOptions,
): Promise<AdmissionRow[]> {
  return database.query<AdmissionRow>(COUNT, countColumns(wanted, options));
}

/**
 * Durable. The same count; with it the keys' uses claim their records, except those of a key that is beyond `limit` now or whose record
 * exists, and completions are written. No two uses may name one record.
 */
export async function countAdmissionsAndClaim(
  database: Database,
  wanted: ReadonlyMap<string, number>,
  options: CountOptions & {
    readonly limit: number;
    readonly uses: readonly Claimant[];
    readonly completions: readonly Completion[];
    readonly now: Date;
  },
): Promise<{ readonly rows: readonly AdmissionRow[]; readonly claimedIds: ReadonlySet<string> }> {
  const { limit, uses, completions, now } = options;
  const found = await database.query<AdmissionRow | ClaimedRow>(COUNT_AND_CLAIM, [
    ...countColumns(wanted, options),
    limit,
    uses.map((use) => use.keyHash),
    ...useColumns(uses),
    now,
    ...completionColumns(completions),
  ]);
  const rows: AdmissionRow[] = [];
  const claimedIds = new Set<string>();
  for (const row of found) {
    if (row.keyHash === null) claimedIds.add(row.claimedId);
    else rows.push(row);
  }
  return { rows, claimedIds };
}

interface ClaimedRow {
  readonly keyHash: null;
  readonly claimedId: string;
}

function countColumns(wanted: ReadonlyMap<string, number>, options: CountOptions): unknown[] {
  return [[...wanted.keys()], [...wanted.values()], options.acceptedEnvironments, `${options.windowMs} milliseconds`];
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
