/**
 * Counts the requests of each subject in its window, for all rate limits except that of `/v1`, for
 * which `admissions.ts` does the same.
 */
import type { Database, Statement } from '@laurel/postgres';
import { COUNT_ON_CONFLICT } from './admissions.ts';

export interface WindowCount {
  /** All requests of the subject in the window so far. */
  readonly requests: number;
  /** Milliseconds since the epoch, by the database's clock. */
  readonly endsAt: number;
  readonly now: number;
}

/**
 * Subjects are counted in the order of their ids, so that batches of several replicas cannot
 * deadlock.
 */
const COUNT: Statement = {
  name: 'count_in_windows',
  text: `
    insert into request_windows as w (subject, started_at, requests, last_request_at)
    select
      subject, date_bin($3::interval, statement_timestamp(), timestamptz 'epoch'), wanted, statement_timestamp()
    from unnest($1::uuid[], $2::integer[]) as asked (subject, wanted)
    order by subject
    ${COUNT_ON_CONFLICT}
    returning
      subject, requests, started_at + $3::interval as "windowEndsAt", clock_timestamp() as now`,
};

/**
 * Counts this many requests of each subject. A subject is a uuid; only its keyed hash relates it to
 * a caller.
 */
export async function countInWindows(
  database: Database,
  wanted: ReadonlyMap<string, number>,
  windowMs: number,
): Promise<Map<string, WindowCount>> {
  const subjects = [...wanted.keys()].sort();
  const rows = await database.query<{ subject: string; requests: number; windowEndsAt: Date; now: Date }>(COUNT, [
    subjects,
    subjects.map((subject) => wanted.get(subject)),
    `${windowMs} milliseconds`,
  ]);
  return new Map(
    rows.map(({ subject, requests, windowEndsAt, now }) => [
      subject,
      { requests, endsAt: windowEndsAt.getTime(), now: now.getTime() },
    ]),
  );
}

const DELETE_OLD: Statement = {
  text: `
    with gone as (
      delete from request_windows
      where subject = any (array(select subject from request_windows where last_request_at <= $1 limit $2 for update skip locked))
        and last_request_at <= $1
      returning 1
    )
    select count(*)::integer as count from gone`,
};

/**
 * Deletes up to `limit` windows in which nothing was counted since this instant, and returns how
 * many.
 */
export async function deleteOldWindows(database: Database, since: Date, limit: number): Promise<number> {
  const rows = await database.query<{ count: number }>(DELETE_OLD, [since, limit]);
  return rows[0]?.count ?? 0;
}
