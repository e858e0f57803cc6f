/**
 * The two forms in which statements lock several rows (docs/lock-order.md) lock them by id under
 * every plan, and hold no row after the one that they wait for. `tests/locks` checks that the
 * services' statements have these forms.
 */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createScratchDatabase } from './scratch-database.fixture.ts';

const BY_IDS = `
  with held as materialized (
    select id from rows_to_lock where id = any($1::int[]) order by id for no key update
  )
  update rows_to_lock t set state = 'changed' from held where t.id = held.id and t.state = 'free' returning t.id`;

const BY_VALUES = `
  with held as materialized (
    select w.*
    from (select * from unnest($1::int[]) as w (id) order by id) w
    cross join lateral (select from rows_to_lock t where t.id = w.id and t.state = 'free' for no key update) t
  )
  update rows_to_lock t set state = 'changed' from held where t.id = held.id returning t.id`;

/**
 * The list of this statement is sorted, and yet a hash join locks the rows in the table's physical
 * order.
 */
const SORTED_JOIN = `
  update rows_to_lock t set state = 'changed'
  from (select * from unnest($1::int[]) as w (id) order by id) w where t.id = w.id returning t.id`;

const WITHOUT_INDEXES = 'set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off';
const HASH_JOINS = `set enable_nestloop = off; set enable_mergejoin = off; ${WITHOUT_INDEXES}`;
const PLANNERS = {
  'left to itself': '',
  'with hash joins alone': HASH_JOINS,
  'with merge joins alone': `set enable_nestloop = off; set enable_hashjoin = off; ${WITHOUT_INDEXES}`,
  'with loops over whole tables': `set enable_mergejoin = off; set enable_hashjoin = off; ${WITHOUT_INDEXES}`,
  'with loops through indexes': 'set enable_seqscan = off; set enable_mergejoin = off; set enable_hashjoin = off',
};

const held = new AsyncDisposableStack();
let holder: pg.Client;
let watcher: pg.Client;
let open: () => Promise<pg.Client>;

beforeAll(async () => {
  const { url } = held.use(await createScratchDatabase());
  open = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    held.defer(() => client.end());
    return client;
  };
  [holder, watcher] = await Promise.all([open(), open()]);
  // An autovacuum would collect statistics at some moment, with which the planner might choose
  // another join than the tested one.
  const storage = 'with (autovacuum_enabled = off)';
  await watcher.query(`create table rows_to_lock (id int primary key, state text not null) ${storage}`);
});
beforeEach(async () => {
  // The physical order of the rows is the reverse of the order of their ids.
  await watcher.query('truncate rows_to_lock');
  await watcher.query(`insert into rows_to_lock select id, 'free' from generate_series(5, 1, -1) as id`);
});
afterAll(() => held.disposeAsync());

/**
 * Runs a statement on all rows while another session holds one. Returns the rows that are free
 * while it waits, and the statement's own rows.
 */
async function runWhileHeld(
  { statement, planner }: { readonly statement: string; readonly planner: string },
  { row, meanwhile = '' }: { readonly row: number; readonly meanwhile?: string },
): Promise<{ readonly free: readonly number[]; readonly changed: readonly number[] }> {
  await holder.query('begin');
  await holder.query('select from rows_to_lock where id = $1 for no key update', [row]);
  const session = await open();
  await session.query(planner);
  const pid = (await session.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const changed = session.query<{ id: number }>(statement, [[4, 2, 5, 1, 3]]);
  while (!(await isWaiting(pid))) {}
  const { rows: free } = await watcher.query<{ id: number }>(
    'select id from rows_to_lock order by id for no key update skip locked',
  );
  if (meanwhile !== '') await holder.query(meanwhile);
  await holder.query('commit');
  const { rows } = await changed;
  return { free: free.map(({ id }) => id), changed: rows.map(({ id }) => id).sort() };
}

async function isWaiting(pid: number | undefined): Promise<boolean> {
  const { rows } = await watcher.query<{ waits: boolean }>('select cardinality(pg_blocking_pids($1)) > 0 as waits', [
    pid,
  ]);
  return rows[0]?.waits === true;
}

describe.for(Object.entries(PLANNERS))('the lock order under a planner %s', ([, planner]) => {
  test.for([
    ['by ids', BY_IDS],
    ['by values', BY_VALUES],
  ] as const)('a statement locks rows %s in the order of their ids', async ([, statement]) => {
    expect(await runWhileHeld({ statement, planner }, { row: 1 })).toEqual({
      free: [2, 3, 4, 5],
      changed: [1, 2, 3, 4, 5],
    });
    await watcher.query(`update rows_to_lock set state = 'free'`);
    expect((await runWhileHeld({ statement, planner }, { row: 3 })).free).toEqual([4, 5]);
  });

  test.for([
    ['by ids', BY_IDS],
    ['by values', BY_VALUES],
  ] as const)('a statement that locks rows %s leaves out a row that changed meanwhile', async ([, statement]) => {
    const meanwhile = `update rows_to_lock set state = 'changed' where id = 1`;
    const { changed } = await runWhileHeld({ statement, planner }, { row: 1, meanwhile });
    expect(changed).toEqual([2, 3, 4, 5]);
  });
});

test('an update that joins a sorted list locks rows in no defined order', async () => {
  const { free } = await runWhileHeld({ statement: SORTED_JOIN, planner: HASH_JOINS }, { row: 1 });
  expect(free).toEqual([]);
});
