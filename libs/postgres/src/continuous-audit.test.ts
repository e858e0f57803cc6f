/** The continuous audit on a real database, with several replicas of one service. */
import { metrics } from '@laurel/telemetry';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Check, runChecks } from './audit.ts';
import { createContinuousAudit } from './continuous-audit.ts';
import { createDatabase, type Database } from './database.ts';
import { createScratchDatabase } from './scratch-database.fixture.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const CHECKS: readonly Check[] = [
  { id: 'no_debt', description: 'No balance is below zero.', violations: 'select id from balances where cents < 0' },
  { id: 'no_gift', description: 'No balance is above ten.', violations: 'select id from balances where cents > 10' },
];

/**
 * Balances have no uuids, so their violations count as live; those of `boxes` have an environment.
 */
const ENVIRONMENTS = 'select id, environment from boxes';

const scratch = await createScratchDatabase();
const database = createDatabase({ url: scratch.url, maxConnections: 4, applicationName: 'audit-test' });
const run = (text: string) => database.query<Record<string, unknown>>({ text });
await run('create table balances (id int primary key, cents int not null)');
await run('create table boxes (id uuid primary key, environment text not null)');
await run(`
create table audit_runs (id smallint primary key check (id = 1), next_run_at timestamptz(3) not null, finished_at timestamptz(3),
  duration_ms bigint, violations jsonb)`);

afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await scratch[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await run('truncate balances, audit_runs');
  logged.length = 0;
});
afterEach(() => void vi.useRealTimers());

const logged: unknown[] = [];
const logger = {
  error: (fields: object, message: string) => void logged.push({ ...fields, message }),
  warn: (fields: object, message: string) => void logged.push({ level: 'warn', ...fields, message }),
};
let runs = 0;
const auditor = (
  checks = (signal: AbortSignal) => {
    runs += 1;
    return runChecks(database, CHECKS, ENVIRONMENTS, signal);
  },
  on: Database = database,
) => createContinuousAudit({ database: on, intervalMs: HOUR_MS, run: checks, logger });

/**
 * A replica whose next run begins at once and lasts until the test calls `end` or its signal
 * aborts.
 */
async function auditorThatRuns(on: Database = database) {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const replica = auditor(async (signal) => {
    signal.addEventListener('abort', () => ended.reject(signal.reason));
    begun.resolve();
    await ended.promise;
    return [];
  }, on);
  await replica.runOnce();
  await makeDue();
  const running = replica.runOnce();
  await begun.promise;
  return { replica, running, end: ended.resolve };
}

/** Makes the run due a millisecond ago: the column rounds, so `now` could become the future. */
const makeDue = () => run(`update audit_runs set next_run_at = clock_timestamp() - interval '1 millisecond'`);

/** Returns when the next run is due, in minutes from now, rounded. */
async function nextRun(): Promise<unknown> {
  const [row] = await run(
    'select round(extract(epoch from next_run_at - clock_timestamp()) / 60)::int as at from audit_runs',
  );
  return row?.at;
}

/** The version of the row, which each write changes. */
async function rowVersion(): Promise<unknown> {
  const [row] = await run('select xmin::text from audit_runs');
  return row?.xmin;
}

async function shown(environment = 'live'): Promise<Record<string, number>> {
  const { values = [] } = (await metrics.getSingleMetric('laurel_audit_violations')?.get()) ?? {};
  const ofIt = values.filter(({ labels }) => labels.environment === environment);
  return Object.fromEntries(ofIt.map(({ labels, value }) => [String(labels.check), value]));
}

test('the first run of the audit on a new database is due after one interval', async () => {
  using first = auditor();
  const before = runs;
  await first.runOnce();
  expect([runs - before, await nextRun()]).toEqual([0, 60]);

  await run('insert into balances values (1, -5), (2, 3), (3, -1)');
  await makeDue();
  await first.runOnce();
  expect([runs - before, await nextRun()]).toEqual([1, 60]);
  expect(await shown()).toEqual({ no_debt: 2, no_gift: 0 });
  expect(logged).toEqual([
    { check: 'no_debt', violations: 2, examples: ['1', '3'], message: 'violated: No balance is below zero.' },
  ]);
  const { values = [] } = (await metrics.getSingleMetric('laurel_audit_finished_timestamp_seconds')?.get()) ?? {};
  expect(Math.abs((values[0]?.value ?? 0) - Date.now() / 1_000)).toBeLessThan(60);
});

test('every replica shows the result of the replica that ran the audit', async () => {
  const replicas = [auditor(), auditor(), auditor()];
  await replicas[0]?.runOnce();
  await run('insert into balances values (1, -5)');
  const before = runs;
  await makeDue();
  await Promise.all(replicas.map((replica) => replica.runOnce()));
  expect(runs - before).toBe(1);

  metrics.getSingleMetric('laurel_audit_violations')?.reset();
  using late = auditor();
  await late.runOnce();
  expect([runs - before, await shown()]).toEqual([1, { no_debt: 1, no_gift: 0 }]);
});

test('a failed run of the audit is repeated a minute later', async () => {
  using working = auditor();
  await working.runOnce();
  await makeDue();
  await working.runOnce();
  using failing = auditor(() => Promise.reject(new Error('the wallet is out of reach')));
  await makeDue();
  await expect(failing.runOnce()).rejects.toThrow('the wallet is out of reach');
  expect([await nextRun(), await shown()]).toEqual([1, { no_debt: 0, no_gift: 0 }]);
});

test('another replica repeats the audit of a stopping process immediately', async () => {
  const begun = Promise.withResolvers<void>();
  using stopping = auditor(async (signal) => {
    begun.resolve();
    await new Promise(() => undefined);
    signal.throwIfAborted();
    return [];
  });
  await stopping.runOnce();
  await makeDue();
  const running = stopping.runOnce();
  await begun.promise;
  using other = auditor();
  const before = runs;
  await other.runOnce();
  expect(runs - before).toBe(0);

  stopping[Symbol.dispose]();
  await running;
  await other.runOnce();
  expect(runs - before).toBe(1);
});

test('another replica repeats the audit of a dead process when its lease has run out', async () => {
  await using connections = createDatabase({ url: scratch.url, maxConnections: 1, applicationName: 'audit-dies' });
  const { replica, running } = await auditorThatRuns(connections);
  await connections[Symbol.asyncDispose]();
  replica[Symbol.dispose]();
  await expect(running).rejects.toThrow();
  using other = auditor();
  const before = runs;
  await other.runOnce();
  expect([runs - before, await nextRun()]).toEqual([0, 5]);

  await makeDue();
  await other.runOnce();
  expect([runs - before, await nextRun()]).toEqual([1, 60]);
});

test('a replica extends its lease every minute while its run lasts', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { replica, running, end } = await auditorThatRuns();
  using _replica = replica;
  using other = auditor();
  const before = runs;
  for (let minutes = 0; minutes < 7; minutes += 1) {
    const version = await rowVersion();
    vi.advanceTimersByTime(MINUTE_MS);
    await expect.poll(rowVersion).not.toBe(version);
    await other.runOnce();
    expect([runs - before, await nextRun()]).toEqual([0, 5]);
  }
  end();
  await running;
  expect(await nextRun()).toBe(60);
  expect([runs - before, vi.getTimerCount()]).toEqual([0, 0]);
});

test('a replica that lost its lease ends its run and keeps the other replica’s result', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { replica, running } = await auditorThatRuns();
  using _replica = replica;
  const failure = expect(running).rejects.toThrow('the lease of the audit went to another replica');
  await run('insert into balances values (1, -5)');
  await makeDue();
  using other = auditor();
  await other.runOnce();
  const version = await rowVersion();
  vi.advanceTimersByTime(MINUTE_MS);
  await failure;
  expect([await nextRun(), await rowVersion(), vi.getTimerCount()]).toEqual([60, version, 0]);
});

test('a run that completes after its lease went to another replica fails', async () => {
  const { replica, running, end } = await auditorThatRuns();
  using _replica = replica;
  await makeDue();
  using other = auditor();
  await other.runOnce();
  const version = await rowVersion();
  end();
  await expect(running).rejects.toThrow('the lease of the audit went to another replica');
  expect([await nextRun(), await rowVersion()]).toEqual([60, version]);
});

test('a check that a release removed is no longer shown', async () => {
  using before = auditor();
  await before.runOnce();
  await makeDue();
  await before.runOnce();
  using after = auditor((signal) => runChecks(database, CHECKS.slice(0, 1), ENVIRONMENTS, signal));
  await makeDue();
  await after.runOnce();
  expect(await shown()).toEqual({ no_debt: 0 });
});

describe('an audit distinguishes play money from real money', () => {
  const OF_TEST = '00000000-0000-4000-8000-000000000001';
  const OF_LIVE = '00000000-0000-4000-8000-000000000002';
  const UNKNOWN = '00000000-0000-4000-8000-000000000003';
  const violating = (rows: string): readonly Check[] => [
    { id: 'no_debt', description: 'No balance is below zero.', violations: rows },
  ];
  const of = async (rows: string) => (await runChecks(database, violating(rows), ENVIRONMENTS))[0];

  beforeAll(() => run(`insert into boxes values ('${OF_TEST}', 'test'), ('${OF_LIVE}', 'live')`));

  test('a violation belongs to the environment of the row that it names', async () => {
    expect(await of(`select '${OF_TEST}'::uuid as id`)).toMatchObject({ violations: 1n, testViolations: 1n });
    expect(await of(`select '${OF_LIVE}'::uuid as id`)).toMatchObject({ violations: 1n, testViolations: 0n });
    expect(await of(`select '${OF_LIVE}'::text as id, 'test' as environment`)).toMatchObject({ testViolations: 1n });
    expect(await of(`select '${OF_TEST}'::text as id, 'live' as environment`)).toMatchObject({ testViolations: 0n });
  });

  test('a violation whose id names no row, is not a uuid or is null counts as live', async () => {
    for (const id of [`'${UNKNOWN}'::uuid`, "'a constraint'", '7', 'null::uuid', "'test'"]) {
      expect(await of(`select ${id} as id`)).toMatchObject({ violations: 1n, testViolations: 0n });
    }
  });

  test('the examples of a report begin with live violations', async () => {
    const rows = `select id from unnest(array['${OF_TEST}', '${OF_LIVE}', '${UNKNOWN}']::uuid[]) as id`;
    expect(await of(rows)).toMatchObject({ violations: 3n, testViolations: 1n, examples: [OF_LIVE, UNKNOWN, OF_TEST] });
  });

  test('a sandbox violation logs a warning instead of an error', async () => {
    using continuous = auditor((signal) =>
      runChecks(database, violating(`select '${OF_TEST}'::uuid as id`), ENVIRONMENTS, signal),
    );
    await continuous.runOnce();
    await makeDue();
    await continuous.runOnce();
    expect([await shown('live'), await shown('test')]).toEqual([{ no_debt: 0 }, { no_debt: 1 }]);
    expect(logged).toEqual([
      {
        level: 'warn',
        check: 'no_debt',
        violations: 1,
        testViolations: 1,
        examples: [OF_TEST],
        message: 'violated: No balance is below zero.',
      },
    ]);
  });
});
