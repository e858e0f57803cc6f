/**
 * Runs a service's audit again and again, so that a violation of a money rule raises an alert and not only answers the operator who asks.
 *
 * One replica at a time runs it: `audit_runs` has one row with the instant of the next run, and the replica whose statement moves that
 * instant runs it. A run that ends, or fails, sets the next one; one whose process died is made up for GIVE_UP_MS later. The result is in the
 * row, so that every replica shows the same, and one that restarts shows it immediately.
 *
 * The service has the table, in a migration of its own:
 *
 *   audit_runs(id smallint primary key check (id = 1), next_run_at timestamptz(3), finished_at timestamptz(3), duration_ms bigint,
 *     violations jsonb), where violations is the number of them by check
 *
 * All instants are the database's.
 */
import { gauge } from '@laurel/telemetry';
import type { CheckResult } from './audit.ts';
import type { Database } from './database.ts';

const POLL_MS = 30_000;

/** Longer than a run takes on any database that can be audited in this way. */
const GIVE_UP_MS = 3_600_000;
const TRY_AGAIN_MS = 60_000;

export interface ContinuousAudit extends Disposable {
  /** How often to call `runOnce`, which looks whether a run is due, and shows the last result. */
  readonly pollMs: number;
  /** Runs the audit if it is due and no other replica does. Throws what the audit throws; the next run is a minute later then. */
  runOnce(): Promise<void>;
}

/** The first process on a new database leaves the first run to the end of an interval. */
const INSERT = {
  text: `
insert into audit_runs (id, next_run_at) values (1, clock_timestamp() + $1 * interval '1 ms') on conflict (id) do nothing`,
};

const CLAIM = {
  text: `
update audit_runs set next_run_at = clock_timestamp() + $1 * interval '1 ms' where next_run_at <= clock_timestamp() returning id`,
};

const RECORD = {
  text: `
update audit_runs
set next_run_at = clock_timestamp() + $1 * interval '1 ms', finished_at = clock_timestamp(), duration_ms = $2, violations = $3::jsonb`,
};

const POSTPONE = { text: `update audit_runs set next_run_at = clock_timestamp() + $1 * interval '1 ms'` };

const LOAD = {
  text: `
select extract(epoch from finished_at)::float8 as finished_seconds, duration_ms::float8 / 1000 as duration_seconds,
  violations::text as violations
from audit_runs where finished_at is not null`,
};

type FinishedRow = { finished_seconds: number; duration_seconds: number; violations: string };

/** `run` answers every check of the service, and ends early where the signal is aborted. Disposing ends a run that is under way. */
export function createContinuousAudit(options: {
  readonly database: Database;
  readonly intervalMs: number;
  readonly run: (signal: AbortSignal) => Promise<readonly CheckResult[]>;
  readonly logger: { error(fields: object, message: string): void };
}): ContinuousAudit {
  const { database, intervalMs, run, logger } = options;
  const violations = gauge(
    'laurel_audit_violations',
    'Rows that violate an invariant, by check, in the last whole run of the audit.',
    ['check'],
  );
  const finished = gauge(
    'laurel_audit_finished_timestamp_seconds',
    'When the last whole run of the audit ended, in seconds since 1970; 0 where there was none.',
  );
  const duration = gauge('laurel_audit_duration_seconds', 'How long the last whole run of the audit took.');
  const stop = new AbortController();
  const stopped = new Promise<undefined>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve(undefined));
  });

  async function show(): Promise<void> {
    const [row] = await database.query<FinishedRow>(LOAD);
    if (row === undefined) return;
    finished.set(row.finished_seconds);
    duration.set(row.duration_seconds);
    // A check that a release removed is not shown any more.
    violations.reset();
    for (const [check, count] of Object.entries<number>(JSON.parse(row.violations))) violations.set({ check }, count);
  }

  async function claim(): Promise<boolean> {
    await database.query(INSERT, [intervalMs]);
    return (await database.query(CLAIM, [GIVE_UP_MS])).length === 1;
  }

  /** Undefined where the process stopped meanwhile. */
  async function auditUntilStopped(): Promise<readonly CheckResult[] | undefined> {
    const results = run(stop.signal);
    // Where the process stops first, its connections end and the run fails with them.
    results.catch(() => undefined);
    return await Promise.race([results, stopped]);
  }

  async function audit(): Promise<void> {
    const startedAt = performance.now();
    const results = await auditUntilStopped();
    // Another replica continues.
    if (results === undefined) return void (await database.query(POSTPONE, [0]));
    const counts = Object.fromEntries(results.map(({ id, violations: found }) => [id, Number(found)]));
    await database.query(RECORD, [intervalMs, Math.round(performance.now() - startedAt), JSON.stringify(counts)]);
    for (const { id, description, violations: found, examples } of results) {
      if (found > 0n) logger.error({ check: id, violations: Number(found), examples }, `violated: ${description}`);
    }
  }

  return {
    pollMs: Math.min(POLL_MS, intervalMs),
    async runOnce() {
      await show();
      if (stop.signal.aborted || !(await claim())) return;
      try {
        await audit();
      } catch (error) {
        await database.query(POSTPONE, [Math.min(intervalMs, TRY_AGAIN_MS)]);
        throw error;
      }
      await show();
    },
    [Symbol.dispose]: () => stop.abort(),
  };
}
