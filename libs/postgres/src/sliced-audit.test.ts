/** The audit in slices on a real database. A slice has three lines of one table. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { type CheckResult, runChecks } from './audit.ts';
import { distinctSql, weighedPageSql } from './audit-rows.ts';
import type { ComparedWalk, SlicedCheck, Walk } from './audit-walk.ts';
import { createDatabase, type Database } from './database.ts';
import { createScratchDatabase } from './scratch-database.fixture.ts';
import { createSlicedAudit, inSnapshotSql } from './sliced-audit.ts';

const IN_SLICE = 'slice join lines on lines.id = slice.key';
const SUMS = `select box as id from boxes full join`;

const CHECKS: readonly SlicedCheck[] = [
  {
    id: 'no_debt',
    description: 'No line is below zero.',
    violations: 'select id from lines where cents < 0',
    slices: { lines: 'select key, id from walked_lines where cents < 0' },
  },
  {
    id: 'small_lines',
    description: 'No line is above 100.',
    violations: 'select id from lines where cents > 100',
    slices: { lines: 'select key, id from walked_lines where cents > 100' },
  },
  {
    id: 'box_is_sum_of_lines',
    description: 'A box holds what its lines add up to.',
    violations: `${SUMS} (select box, sum(cents) as summed from lines group by box) as line using (box) where cents <> coalesce(summed, 0)`,
    atEnd: `${SUMS} (select key as box, cents as summed from audit_sums where name = 'moved') as line using (box)
      join audit_sums as begun on begun.name = 'begun' and begun.key = box where begun.cents <> coalesce(summed, 0)`,
  },
  { id: 'few_boxes', description: 'At most two.', violations: 'select max(box) as id from boxes having count(*) > 2' },
];

const LINES: Walk = {
  name: 'lines',
  pageSize: 3,
  page: 'select id as key from lines where id > $1 order by id limit $2',
  shared: { walked_lines: `select key, lines.* from ${IN_SLICE}` },
  sums: `select 'moved' as name, box as key, cents from ${IN_SLICE} cross join pass where ${inSnapshotSql('lines', 'created_at')}`,
};
/** The lines of a test fit into one page, so that each run with this tail audits all lines. */
const WITH_TAIL: Walk = { ...LINES, tail: { table: 'lines', key: 'id' } };
const ENVIRONMENTS = 'select id, environment from lines';

const scratch = await createScratchDatabase();
const database = createDatabase({ url: scratch.url, maxConnections: 4, applicationName: 'sliced-audit-test' });
const run = (text: string, values?: unknown[]) => database.query<Record<string, unknown>>({ text }, values);
await run('create table boxes (box text primary key, cents int not null)');
await run(`
create table lines (id uuid primary key, box text not null, cents int not null, environment text not null default 'live',
  created_at timestamptz not null default clock_timestamp())`);
await run(`
create table audit_passes (id smallint primary key, started_at timestamptz(3), completed_at timestamptz(3), walk text, after uuid,
  snapshot text, tails jsonb not null)`);
await run(`
create table audit_findings (check_id text, walk text, key uuid, id text, environment text, primary key (check_id, walk, key, id, environment))`);
await run('create table audit_sums (name text, key text, cents numeric not null, primary key (name, key))');

afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await scratch[Symbol.asyncDispose]();
});

/** Returns an id; ids are in the order of their numbers. */
const idAt = (order: number) => `00000000-0000-7000-8000-${String(order).padStart(12, '0')}`;

/** The ids of the lines, in the order of the walk. */
let ids: readonly string[];

beforeEach(async () => {
  await run('truncate boxes, lines, audit_passes, audit_findings, audit_sums');
  ids = Array.from({ length: 10 }, (_, index) => idAt(1_000 + index));
  await run(`insert into boxes values ('a', 50), ('b', 50)`);
  await run(
    `insert into lines (id, box, cents) select id, case when position % 2 = 0 then 'a' else 'b' end, 10
     from unnest($1::uuid[]) with ordinality as line (id, position) order by position`,
    [ids],
  );
});

/** Creates an audit. By default a run has no time, so that it audits one slice. */
const auditor = ({
  runBudgetMs = 0,
  on = database,
  walk = LINES,
  comparedWalks = [],
}: {
  runBudgetMs?: number;
  on?: Database;
  walk?: Walk;
  comparedWalks?: readonly ComparedWalk[];
} = {}) =>
  createSlicedAudit({
    database: on,
    checks: CHECKS,
    walks: [walk],
    comparedChecks: comparedWalks.length > 0 ? { is_known: 'The other database has every line.' } : {},
    comparedWalks,
    environments: ENVIRONMENTS,
    startSums: `select 'begun' as name, box as key, cents from boxes`,
    runBudgetMs,
  });

const found = (results: readonly CheckResult[]) =>
  Object.fromEntries(results.filter(({ violations }) => violations > 0n).map((one) => [one.id, one.examples]));

/** Makes runs that audit one slice each, until the pass ends. Returns what each run reported. */
async function passBySlices(options?: Parameters<typeof auditor>[0]): Promise<object[]> {
  const reports: object[] = [];
  do reports.push(found(await auditor(options).run()));
  while ((await run('select started_at from audit_passes'))[0]?.started_at !== null);
  return reports;
}

/** Makes the first run of a database, which completes its first pass. */
const endFirstPass = async () => found(await auditor().run());

const damage = (index: number) => run('update lines set cents = -10 where id = $1', [ids[index]]);
const repair = (index: number) => run('update lines set cents = 10 where id = $1', [ids[index]]);

test('the first run of a database audits every row', async () => {
  await damage(9);
  const audit = auditor();
  expect(await audit.passCompletedAt()).toBeNull();
  expect(found(await audit.run())).toEqual({ no_debt: [ids[9]], box_is_sum_of_lines: ['a'] });
  expect(Math.abs(((await audit.passCompletedAt()) ?? 0) - Date.now() / 1_000)).toBeLessThan(60);
});

test('a later run continues after the slice at which the run before ended', async () => {
  expect(await endFirstPass()).toEqual({});
  expect(await passBySlices()).toHaveLength(4);
});

test('the audit finds damaged old rows when it audits their slice', async () => {
  await endFirstPass();
  await damage(4);
  const reports = await passBySlices();
  const debt = { no_debt: [ids[4]] };
  expect(reports).toEqual([{}, debt, debt, { ...debt, box_is_sum_of_lines: ['b'] }]);
});

test('several rules over one slice report their violations independently', async () => {
  await run('update lines set cents = -10 where id = $1', [ids[0]]);
  await run(`update lines set cents = 101, environment = 'test' where id = $1`, [ids[1]]);
  const reported = await auditor().run();
  expect(found(reported)).toEqual({ no_debt: [ids[0]], small_lines: [ids[1]], box_is_sum_of_lines: ['a', 'b'] });
  expect(reported.find(({ id }) => id === 'small_lines')).toMatchObject({ violations: 1n, testViolations: 1n });
});

test('one run completes a pass that began half a day ago', async () => {
  await endFirstPass();
  await damage(9);
  expect(found(await auditor().run())).toEqual({});
  await run(`update audit_passes set started_at = started_at - interval '12 hours'`);
  expect(found(await auditor().run())).toMatchObject({ no_debt: [ids[9]] });
});

test('a violation is reported until its slice is audited again', async () => {
  await damage(4);
  await endFirstPass();
  await repair(4);
  const reports = await passBySlices();
  expect(reports).toEqual([
    { no_debt: [ids[4]], box_is_sum_of_lines: ['b'] },
    { box_is_sum_of_lines: ['b'] },
    { box_is_sum_of_lines: ['b'] },
    {},
  ]);
});

test('a violation by a deleted row is reported until the slice of that row is audited', async () => {
  await damage(9);
  await endFirstPass();
  await run(`update boxes set cents = 40 where box = 'a'`);
  await run('delete from lines where id = $1', [ids[9]]);
  expect((await passBySlices()).at(-1)).toEqual({});
});

test('every run audits the totals and the new rows', async () => {
  const early = idAt(1);
  const audit = auditor({ walk: WITH_TAIL });
  await audit.run();
  await audit.run();
  await run(`insert into lines (id, box, cents) values ($1, 'a', -10)`, [early]);
  await run(`insert into boxes values ('c', 0)`);
  expect(found(await audit.run())).toEqual({ no_debt: [early], few_boxes: ['c'] });
});

test('every run audits the rows whose keys are new', async () => {
  const audit = auditor({ walk: { ...LINES, tail: { leastKeyAt: () => idAt(5_000) } } });
  await audit.run();
  await audit.run();
  const late = [1, 2, 3, 4].map((index) => idAt(5_000 + index));
  await run(`insert into lines (id, box, cents) select id, 'a', -10 from unnest($1::uuid[]) as line (id)`, [late]);
  expect(found(await audit.run())).toEqual({ no_debt: late });
});

test('every run audits the rows with a new instant, whatever their keys and pages', async () => {
  const keysBetween = 'select id as key from lines where created_at >= $1 and created_at < $2';
  const audit = auditor({ walk: { ...LINES, tail: { keysBetween } } });
  await run(`update lines set created_at = now() - interval '2 hours'`);
  await audit.run();
  await audit.run();
  await damage(8);
  const early = [1, 2, 3, 4, 5].map(idAt);
  const insert = `insert into lines (id, box, cents, created_at) select id, 'a', -10, now() + at from unnest($1::uuid[], $2::interval[]) as line (id, at)`;
  await run(insert, [early, ['-90 seconds', '-30 seconds', '0', '0', '1 hour']]);
  // The first is older than what the run before the last one began with.
  expect(found(await audit.run())).toEqual({ no_debt: early.slice(1) });
});

test('rows and balances that are written during a pass are not counted in its sums', async () => {
  await endFirstPass();
  for (const index of [0, 1, 2, 3]) {
    await auditor().run();
    await run(`insert into lines (id, box, cents) values ($1, 'a', 10)`, [idAt(2_000 + index)]);
    await run(`update boxes set cents = cents + 10 where box = 'a'`);
  }
  expect((await passBySlices()).at(-1)).toEqual({});
  expect((await passBySlices()).at(-1)).toEqual({});
});

test('rows of a transaction that commits during the pass are not counted in its sums', async () => {
  await endFirstPass();
  const written = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const transaction = database.transaction(async (tx) => {
    const text = `insert into lines (id, box, cents) values ('${idAt(3_000)}', 'a', 10)`;
    await tx.query({ text });
    await tx.query({ text: `update boxes set cents = cents + 10 where box = 'a'` });
    written.resolve();
    await commit.promise;
  });
  await written.promise;
  await auditor().run();
  commit.resolve();
  await transaction;
  expect((await passBySlices()).at(-1)).toEqual({});
});

test('a process that dies during a pass loses at most one slice', async () => {
  await endFirstPass();
  await damage(1);
  await damage(7);
  await auditor().run();
  // The process dies when the slice is written but not committed.
  let slices = 0;
  const dying: Database = {
    ...database,
    transaction: (work, options) =>
      database.transaction(async (tx) => {
        const result = await work(tx);
        if (options?.isSnapshot !== true) slices += 1;
        if (slices === 2) throw new Error('the process died');
        return result;
      }, options),
  };
  await expect(auditor({ runBudgetMs: 60_000, on: dying }).run()).rejects.toThrow('the process died');
  const reports = await passBySlices();
  expect(reports.at(-1)).toMatchObject({ no_debt: [ids[1], ids[7]] });
  const whole = await runChecks(database, CHECKS, ENVIRONMENTS);
  expect(reports.at(-1)).toEqual(found(whole));
});

test('a run whose slices fail still reports violations of checks without slices', async () => {
  await endFirstPass();
  const failing: Walk = { ...LINES, page: 'select id as key from lines where id > $1 and 1 / ($2::int - $2::int) > 0' };
  await expect(auditor({ walk: failing }).run()).rejects.toThrow('division by zero');
  await run(`insert into boxes values ('c', 0)`);
  expect(found(await auditor({ walk: failing }).run())).toEqual({ few_boxes: ['c'] });
});

test('a second replica that audits the same slice stores nothing', async () => {
  await endFirstPass();
  await auditor().run();
  const late: Database = {
    ...database,
    query: async (statement, values) => {
      const rows = await database.query<never>(statement, values);
      // Another replica audits the slice after this replica has read the pass and before it audits
      // the slice.
      if (statement.text.includes('is_urgent') && statement.text.includes('is_foreign')) await auditor().run();
      return rows;
    },
  };
  await expect(auditor({ on: late }).run()).rejects.toThrow('another replica has audited this slice');
  expect((await passBySlices()).at(-1)).toEqual({});
});

test('an aborted signal ends a run with the reason of the signal', async () => {
  await endFirstPass();
  await expect(auditor().run(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
});

test('a pass with the snapshot of another server starts again', async () => {
  await endFirstPass();
  await auditor().run();
  await run(`update audit_passes set snapshot = '9000000000000:9000000000000:'`);
  expect(await passBySlices()).toHaveLength(4);
});

/** Compares with a database that has every line except these. Ids from `newFrom` on are new. */
const comparing = (missing: ReadonlySet<string | undefined>, newFrom = idAt(9_999)): ComparedWalk => ({
  name: 'compared',
  pageSize: 4,
  async compare(after, limit) {
    const rows = await run('select id from lines where id > $1 order by id limit $2', [after, limit]);
    const keys = rows.map(({ id }) => String(id));
    return {
      until: keys.length < limit ? null : (keys.at(-1) ?? null),
      found: keys.filter((key) => missing.has(key)).map((id) => ({ check: 'is_known', id, environment: 'test' })),
    };
  },
  leastKeyAt: () => newFrom,
});

test('a pass compares the rows of two databases, and a finding lasts until its slice is compared again', async () => {
  await endFirstPass();
  const missing = new Set([ids[5]]);
  const options = { comparedWalks: [comparing(missing)] };
  const known = { is_known: [ids[5]] };
  expect(await passBySlices(options)).toEqual([{}, {}, {}, {}, {}, known, known]);
  missing.clear();
  expect(await passBySlices(options)).toEqual([known, known, known, known, known, {}, {}]);
});

test('every run compares the rows with new ids', async () => {
  const late = idAt(5_000);
  const audit = auditor({ comparedWalks: [comparing(new Set([ids[5], late]), idAt(4_999))] });
  await audit.run();
  await run(`insert into lines (id, box, cents) values ($1, 'a', 0)`, [late]);
  const results = await audit.run();
  expect(found(results)).toEqual({ is_known: [ids[5], late] });
  expect(results.at(-1)).toMatchObject({ violations: 2n, testViolations: 2n });
});

test('a failed comparison does not move the pass forward', async () => {
  await endFirstPass();
  const failing = { ...comparing(new Set()), compare: () => Promise.reject(new Error('the wallet is down')) };
  const audit = auditor({ runBudgetMs: 60_000, comparedWalks: [failing] });
  await expect(audit.run()).rejects.toThrow('the wallet is down');
  expect(await run('select walk from audit_passes')).toEqual([{ walk: 'compared' }]);
});

test('the audit reads every row when a weighed page takes light rows together and a heavy row alone', async () => {
  await endFirstPass();
  await damage(9);
  const walk: Walk = {
    ...LINES,
    pageSize: 4,
    page: weighedPageSql(
      distinctSql('lines', 'id', `box <> 'c'`),
      '(select case when box = $$b$$ then 7 else 1 end from lines where id = key)',
      8,
    ),
    isWeighed: true,
  };
  await run(`update lines set box = case when id >= $1 then 'b' else 'a' end`, [ids[6]]);
  await run(`update boxes set cents = case box when 'a' then 60 else 20 end`);
  // The slices: four lines of a; two of a and the first of b; two of b; the last of b; none.
  expect(await passBySlices({ walk })).toEqual([{}, {}, {}, { no_debt: [ids[9]] }, { no_debt: [ids[9]] }]);
});
