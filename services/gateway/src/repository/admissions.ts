/** Who holds a key, and how often it was used in this window: both in one statement, for many keys at once. */
import type { Database, Statement } from '@laurel/postgres';
import type { KeyEnvironment } from '../domain/api-key.ts';

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
 * Joined rows are few and every join goes by a unique index, so the plan does not depend on the statistics.
 */
const COUNT: Statement = {
  name: 'count_admissions',
  text: `
    with asked as (
      select decode(key_hash, 'hex') as key_hash, wanted
      from unnest($1::text[], $2::integer[]) as asked (key_hash, wanted)
    ),
    resolved as (
      select asked.key_hash, asked.wanted, api_keys.id as key_id, api_keys.program_id, api_keys.environment
      from asked
      join api_keys on api_keys.key_hash = asked.key_hash
      join programs on programs.id = api_keys.program_id
      where api_keys.revoked_at is null
        and api_keys.environment = any ($3::text[])
        and not programs.deletion_scheduled
        and (programs.status = 'approved' or (programs.status = 'draft' and api_keys.environment = 'test'))
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
    )
    select
      encode(resolved.key_hash, 'hex') as "keyHash",
      resolved.key_id as "keyId",
      resolved.program_id as "programId",
      resolved.environment,
      counted.requests,
      (extract(epoch from counted.started_at + $4::interval) * 1000)::double precision as "windowEndsAt",
      (extract(epoch from clock_timestamp()) * 1000)::double precision as now
    from resolved
    join counted using (key_id)`,
};

const READ: Statement = {
  name: 'read_admission',
  text: `
    select api_keys.id as "keyId", api_keys.program_id as "programId", api_keys.environment
    from api_keys
    join programs on programs.id = api_keys.program_id
    where api_keys.key_hash = decode($1, 'hex')
      and api_keys.revoked_at is null
      and api_keys.environment = any ($2::text[])
      and not programs.deletion_scheduled
      and (programs.status = 'approved' or (programs.status = 'draft' and api_keys.environment = 'test'))`,
};

/** Only keys that resolve come back, in no order. */
export function countAdmissions(
  database: Database,
  wanted: ReadonlyMap<string, number>,
  options: { acceptedEnvironments: readonly string[]; windowMs: number },
): Promise<AdmissionRow[]> {
  return database.query<AdmissionRow>(COUNT, [
    [...wanted.keys()],
    [...wanted.values()],
    options.acceptedEnvironments,
    `${options.windowMs} milliseconds`,
  ]);
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
