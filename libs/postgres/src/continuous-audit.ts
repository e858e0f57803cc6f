/**
 * Repeats a service's audit, so that a violation of a money rule raises an alert before an operator
 * asks.
 *
 * One replica at a time runs it, under a lease. `audit_runs` has one row with the instant of the
 * next run. The replica that moves this instant by LEASE_MS runs the audit, and moves it again
 * every EXTEND_EVERY_MS. When the run ends or fails, it sets the next one. If its process dies,
 * another replica takes over when the lease has run out.
 * A replica recognises its lease by the instant that it wrote last. If another replica has moved
 * it, the lease is lost, and the run ends without a result. The row holds the result, so that every
 * replica shows the same one, even directly after a restart.
 *
 * The service creates the table in its own migration:
 *
 *   audit_runs(id smallint primary key check (id = 1), next_run_at timestamptz(3), finished_at
 *   timestamptz(3), duration_ms bigint, violations jsonb)
 *
 * `violations` has a count for each check: violations of real money under the check's id, those of
 * play money under that id with TEST_SUFFIX. Replicas of the previous release show the latter as
 * one more check.
 *
 * All instants are the database's.
 */
import { gauge } from '@laurel/telemetry';
import type { CheckResult } from './audit.ts';
import type { Database } from './database.ts';

const POLL_MS = 30_000;

/** The lease is long enough that a replica may fail to extend it a few times. */
const LEASE_MS = 300_000;
const EXTEND_EVERY_MS = 60_000;
const TRY_AGAIN_MS = 60_000;
const TEST_SUFFIX = '@test';

export interface ContinuousAudit extends Disposable {
  /** How often to call `runOnce`, which runs a due audit and shows the last result. */
  readonly pollMs: number;
  /**
   * Runs the audit if it is due and no other replica runs it. Throws what the audit throws; the
   * next run is then a minute later.
   */
  runOnce(): Promise<void>;
}

/** The first run on a new database is due after one interval. */
const INSERT = {
  text: `
insert into audit_runs (id, next_run_at) values (1, clock_timestamp() + $1 * interval '1 ms') on conflict (id) do nothing`,
};

const LEASE = {
  text: `
update audit_runs set next_run_at = clock_timestamp() + $1 * interval '1 ms' where next_run_at <= clock_timestamp() returning next_run_at`,
};

// Moves the next run, under the lease that `$1` names.
const MOVE = {
  text: `
update audit_runs set next_run_at = clock_timestamp() + $2 * interval '1 ms' where next_run_at = $1 returning next_run_at`,
};

const RECORD = {
  text: `
update audit_runs
set next_run_at = clock_timestamp() + $2 * interval '1 ms', finished_at = clock_timestamp(), duration_ms = $3, violations = $4::jsonb
where next_run_at = $1
returning next_run_at`,
};

const LOAD = {
  text: `
select extract(epoch from finished_at)::float8 as finished_seconds, duration_ms::float8 / 1000 as duration_seconds,
  violations::text as violations
from audit_runs where finished_at is not null`,
};

type FinishedRow = { finished_seconds: number; duration_seconds: number; violations: string };

type LeasedRow = { next_run_at: Date };

interface Lease {
  /** The signal is aborted when another replica has the lease. */
  readonly lost: AbortSignal;
  /** Ends the lease with the statement that sets the next run. Throws if the lease is lost. */
  end(statement: typeof MOVE, values: readonly unknown[]): Promise<void>;
}

/** Extends the lease until it ends or is lost. */
function keepLease(database: Database, leasedUntil: Date): Lease {
  const lost = new AbortController();
  let until = leasedUntil;

  async function move(statement: typeof MOVE, values: readonly unknown[]): Promise<void> {
    const [row] = await database.query<LeasedRow>(statement, [until, ...values]);
    if (row !== undefined) {
      until = row.next_run_at;
      return;
    }
    clearInterval(timer);
    lost.abort(new Error('the lease of the audit went to another replica'));
  }

  let extended = Promise.resolve();
  const timer = setInterval(() => {
    // An extension that fails is repeated a minute later, before the lease runs out.
    extended = extended.then(() => move(MOVE, [LEASE_MS])).catch(() => undefined);
  }, EXTEND_EVERY_MS);

  return {
    lost: lost.signal,
    async end(statement, values) {
      clearInterval(timer);
      await extended;
      if (!lost.signal.aborted) await move(statement, values);
      lost.signal.throwIfAborted();
    },
  };
}

/**
 * `run` returns every check of the service, and ends early when the signal is aborted. Disposing
 * ends a run that is under way.
 */
export function createContinuousAudit(options: {
  readonly database: Database;
  readonly intervalMs: number;
  readonly run: (signal: AbortSignal) => Promise<readonly CheckResult[]>;
  /**
   * When the last pass over all rows was complete, in seconds since 1970. Only for an audit whose
   * runs do not read every row (sliced-audit.ts).
   */
  readonly passCompletedAt?: () => Promise<number | null>;
  readonly logger: { error(fields: object, message: string): void; warn(fields: object, message: string): void };
}): ContinuousAudit {
  const { database, intervalMs, run, passCompletedAt, logger } = options;
  const violations = gauge(
    'laurel_audit_violations',
    'Rows that violate an invariant, by check and environment, in the last whole run of the audit.',
    ['check', 'environment'],
  );
  const finished = gauge(
    'laurel_audit_finished_timestamp_seconds',
    'When the last whole run of the audit ended, in seconds since 1970; 0 where there was none.',
  );
  const passFinished = gauge(
    'laurel_audit_pass_finished_timestamp_seconds',
    'When the audit had last read every row, in seconds since 1970; before the first time, when it began to; 0 before that.',
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
    passFinished.set((await passCompletedAt?.()) ?? row.finished_seconds);
    duration.set(row.duration_seconds);
    // A check that a release removed is no longer shown.
    violations.reset();
    for (const [key, count] of Object.entries<number>(JSON.parse(row.violations))) {
      const isTest = key.endsWith(TEST_SUFFIX);
      const check = isTest ? key.slice(0, -TEST_SUFFIX.length) : key;
      violations.set({ check, environment: isTest ? 'test' : 'live' }, count);
    }
  }

  /** Logs an error for real money only, because an error wakes an operator. */
  function logViolations({ id, description, violations: found, testViolations, examples }: CheckResult): void {
    if (found === 0n) return;
    const ofTest = testViolations > 0n && { testViolations: Number(testViolations) };
    const fields = { check: id, violations: Number(found), ...ofTest, examples };
    logger[found > testViolations ? 'error' : 'warn'](fields, `violated: ${description}`);
  }

  async function acquireLease(): Promise<Lease | undefined> {
    await database.query(INSERT, [intervalMs]);
    const [leased] = await database.query<LeasedRow>(LEASE, [LEASE_MS]);
    return leased && keepLease(database, leased.next_run_at);
  }

  /** Runs the audit; undefined if the process stopped meanwhile. */
  async function auditUntilStopped(lost: AbortSignal): Promise<readonly CheckResult[] | undefined> {
    const results = run(AbortSignal.any([stop.signal, lost]));
    // If the process stops first, its connections end and the run fails with them.
    results.catch(() => undefined);
    return await Promise.race([results, stopped]);
  }

  async function audit(lease: Lease): Promise<void> {
    const startedAt = performance.now();
    const results = await auditUntilStopped(lease.lost);
    // Another replica continues.
    if (results === undefined) return await lease.end(MOVE, [0]);
    const counts = Object.fromEntries(
      results.flatMap(({ id, violations: found, testViolations }) => [
        [id, Number(found - testViolations)],
        [id + TEST_SUFFIX, Number(testViolations)],
      ]),
    );
    await lease.end(RECORD, [intervalMs, Math.round(performance.now() - startedAt), JSON.stringify(counts)]);
    for (const result of results) logViolations(result);
  }

  return {
    pollMs: Math.min(POLL_MS, intervalMs),
    async runOnce() {
      await show();
      const lease = stop.signal.aborted ? undefined : await acquireLease();
      if (lease === undefined) return;
      try {
        await audit(lease);
      } catch (error) {
        if (!lease.lost.aborted) await lease.end(MOVE, [Math.min(intervalMs, TRY_AGAIN_MS)]);
        throw error;
      }
      await show();
    },
    [Symbol.dispose]: () => stop.abort(),
  };
}
