/**
 * The sweepers walk attempts in the order of their creation, from a mark below which everything is
 * done. The low watermark keeps new attempts from appearing below a mark.
 */

import type { Database, Queryable, Transaction } from '@laurel/postgres';
import type { ContestServiceName } from '@laurel/values/ids';
import { firstOf } from '@laurel/values/instant';
import type { Environment } from '@laurel/values/tenant';
import { environmentSql } from './attempt-windows.ts';

export type Sweep = 'resolve_pending' | 'expire_attempts';

/** The row of sweep_marks that holds the low watermark. */
const LOW_WATERMARK = 'low_watermark';

export type PendingAttempt = {
  readonly id: string;
  readonly feeGeneration: number;
  readonly createdAt: Date;
  readonly environment: Environment;
};

const LOAD_MARK = { text: 'select swept_until from sweep_marks where sweep = $1' };

// Takes the later of both instants, so that a mark never moves backwards even if a slower replica
// writes last.
const PUT_MARK = {
  text: `
insert into sweep_marks (sweep, swept_until) values ($1, $2)
on conflict (sweep) do update set swept_until = excluded.swept_until
where sweep_marks.swept_until < excluded.swept_until`,
};

// Keeps the low watermark behind the database's present. Otherwise a caller whose clock is ahead
// could keep every process from creating attempts.
const RAISE_LOW_WATERMARK = {
  text: `
insert into sweep_marks (sweep, swept_until)
values ('${LOW_WATERMARK}', least($1::timestamptz, clock_timestamp() - $2::int * interval '1 ms'))
on conflict (sweep) do update set swept_until = excluded.swept_until
where sweep_marks.swept_until < excluded.swept_until`,
};

const SELECT_LOW_WATERMARK = {
  text: `select swept_until, clock_timestamp()::text as raised_at from sweep_marks where sweep = '${LOW_WATERMARK}'`,
};

// pg_stat_activity shows this role its own sessions. That is enough, because no other role creates
// attempts or ends them.
const IS_ANY_OLDER = {
  text: `
select exists (select from pg_stat_activity where datname = current_database() and xact_start < $1::timestamptz) as is_any_older`,
};

function selectingPending(contestService: ContestServiceName): string {
  return `
select a.id, a.fee_generation, a.created_at, ${environmentSql(contestService)} as environment from attempts a
where a.created_at >= $1 and a.created_at <= $2 and a.status = 'pending'
order by a.created_at limit $3`;
}

const SELECT_PENDING_OF_CHALLENGES = { text: selectingPending('challenge') };
const SELECT_PENDING_OF_ROUNDS = { text: selectingPending('tournament') };
const SELECT_PENDING = { challenge: SELECT_PENDING_OF_CHALLENGES, tournament: SELECT_PENDING_OF_ROUNDS };

const SELECT_DUE = {
  text: `
select id from attempts
where created_at >= $1 and created_at <= $2 and status = 'open'
order by created_at limit $3`,
};

// One statement ends the attempts and queues their refunds. It skips rows that an outcome has
// locked instead of waiting for them, because the outcome will settle these attempts.
function expiringDue(contestService: ContestServiceName): string {
  return `
with due as (
  select id from attempts
  where created_at >= $1 and created_at <= $2 and status = 'open' and ($5::uuid[] is null or id = any($5))
  order by created_at limit $3
  for no key update skip locked
), ended as (
  update attempts a set status = case when a.fee_cents > 0 then 'expiring' else 'expired' end
  from due where a.id = due.id returning a.id, a.fee_cents, ${environmentSql(contestService)} as environment
), queued as (
  insert into refunds_due (attempt_id, since, environment)
  select id, $4, environment from ended where fee_cents > 0
)
select id from ended`;
}

const EXPIRE_DUE_OF_CHALLENGES = { text: expiringDue('challenge') };
const EXPIRE_DUE_OF_ROUNDS = { text: expiringDue('tournament') };
const EXPIRE_DUE = { challenge: EXPIRE_DUE_OF_CHALLENGES, tournament: EXPIRE_DUE_OF_ROUNDS };

const OLDEST_LEFT_BEHIND = {
  text: `
select created_at from attempts
where created_at >= $1 and created_at <= $2 and status in ('pending', 'open')
order by created_at limit 1`,
};

/**
 * A condition for statements that write attempts: the attempt was created after the low watermark.
 * `createdAt` is SQL. An attempt that fails the condition waited too long for its commit and must
 * be decided again.
 */
export function isAfterLowWatermarkSql(createdAt: string): string {
  return `${createdAt} > coalesce((select swept_until from sweep_marks where sweep = '${LOW_WATERMARK}'), '-infinity')`;
}

/**
 * Statements that begin after `raisedAt`, by the database's clock, write no attempt whose
 * created_at is `until` or earlier.
 */
export type LowWatermark = { readonly until: Date; readonly raisedAt: string };

/**
 * Raises the low watermark to this instant, or to `marginMs` before the database's present if that
 * is earlier.
 */
export async function raiseLowWatermark(database: Database, until: Date, marginMs: number): Promise<LowWatermark> {
  await database.query(RAISE_LOW_WATERMARK, [until, marginMs]);
  // This query runs after the commit above, so every statement that begins from now on sees the
  // raised low watermark.
  const [row] = await database.query<{ swept_until: Date; raised_at: string }>(SELECT_LOW_WATERMARK);
  if (row === undefined) throw new Error('the low watermark that was just raised cannot be read');
  // Another replica may have raised the low watermark further, but this process does not know how
  // far that replica's walk has come.
  return { until: firstOf(row.swept_until, until), raisedAt: row.raised_at };
}

/**
 * Whether any transaction that began before the instant, by the database's clock, is still in
 * progress.
 */
export async function isAnyTransactionOlder(database: Database, than: string): Promise<boolean> {
  const [row] = await database.query<{ is_any_older: boolean }>(IS_ANY_OLDER, [than]);
  return row?.is_any_older ?? true;
}

/** Loads the sweep's mark; the epoch if the sweep has never run. */
export async function loadSweepMark(database: Database, sweep: Sweep): Promise<Date> {
  const [row] = await database.query<{ swept_until: Date }>(LOAD_MARK, [sweep]);
  return row?.swept_until ?? new Date(0);
}

export async function putSweepMark(database: Database, sweep: Sweep, sweptUntil: Date): Promise<void> {
  await database.query(PUT_MARK, [sweep, sweptUntil]);
}

/**
 * Loads pending attempts that were created from the first to the second instant, both included,
 * oldest first.
 */
export async function loadPending(
  database: Database,
  contestService: ContestServiceName,
  { from, until, limit }: { readonly from: Date; readonly until: Date; readonly limit: number },
): Promise<readonly PendingAttempt[]> {
  const rows = await database.query<{
    id: string;
    fee_generation: number;
    created_at: Date;
    environment: Environment;
  }>(SELECT_PENDING[contestService], [from, until, limit]);
  return rows.map(({ id, fee_generation: feeGeneration, created_at: createdAt, environment }) => ({
    id,
    feeGeneration,
    createdAt,
    environment,
  }));
}

/** Loads the ids of the open attempts that `expireAttemptsBetween` would end. Locks nothing. */
export async function loadIdsDueToExpire(
  on: Queryable,
  from: Date,
  until: Date,
  limit: number,
): Promise<readonly string[]> {
  return (await on.query<{ id: string }>(SELECT_DUE, [from, until, limit])).map(({ id }) => id);
}

/**
 * Ends open attempts that were created from the first to the second instant, both included, oldest
 * first. If ids are given, ends only these attempts.
 */
export async function expireAttemptsBetween(
  tx: Transaction,
  contestService: ContestServiceName,
  from: Date,
  until: Date,
  limit: number,
  now: Date,
  among: readonly string[] | null = null,
): Promise<readonly string[]> {
  return (await tx.query<{ id: string }>(EXPIRE_DUE[contestService], [from, until, limit, now, among])).map(
    ({ id }) => id,
  );
}

/**
 * Returns when the oldest attempt of the window that has neither ended nor been refused was
 * created; null if there is none.
 */
export async function findOldestUnended(database: Database, from: Date, until: Date): Promise<Date | null> {
  const [row] = await database.query<{ created_at: Date }>(OLDEST_LEFT_BEHIND, [from, until]);
  return row?.created_at ?? null;
}
