/**
 * Every statement of every repository locks rows in an order that its text defines, under every
 * plan (docs/lock-order.md). The test loads the repository folders to find the statements, so it
 * checks new ones too.
 */
import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase } from '@laurel/testing';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LockPoint, lockPointsOf, type PlanNode, type UniqueKeys } from './lock-plan.ts';
import { loadWrittenStatements, type WrittenStatement } from './statements.ts';

const services = new URL('../../services/', import.meta.url);

const ATTEMPTS_HELD = 'the caller holds the attempts, by attempts_lock_with_terms';
const BOARDS_HELD = 'the caller holds the attempts and the boards of their rounds, by attempts_lock_with_boards';
const ROUND_HELD = 'the caller holds the round, its open attempts and its board, by lockRoundToEnd';
const OF_HELD_ATTEMPTS = 'its query `held` has the attempts, and each row here belongs to one of them';
const DAY_COUNTS_HELD = 'the caller holds the row of day_counts, by day_counts_lock_leased';
const MONITORS_HELD = 'the caller holds the monitors, by drift_monitors_lock_free or lockMonitor';
const SORTED_BY_CALLER =
  'its arrays come in this order, which services/gateway/src/repository/lock-order.test.ts holds, and its plan is one scan of them';

/**
 * Statements that lock several rows in no defined order, and why no other transaction can wait for
 * them in a cycle. A new line must name the lock that each writer of these rows already holds.
 */
const HELD_BEFORE: Readonly<Record<string, string>> = {
  'challenge attempts_settle: main updates attempts': ATTEMPTS_HELD,
  'challenge attempts_disqualify: main updates attempts': ATTEMPTS_HELD,
  'challenge outcomes_insert: main inserts outcomes': ATTEMPTS_HELD,
  'challenge outcomes_settle_losses: CTE recorded inserts outcomes': OF_HELD_ATTEMPTS,
  'challenge outcomes_settle_losses: CTE emitted inserts outbox': OF_HELD_ATTEMPTS,
  'challenge outcomes_settle_with_wins: CTE recorded inserts outcomes': OF_HELD_ATTEMPTS,
  'challenge outcomes_settle_with_wins: CTE emitted inserts outbox': OF_HELD_ATTEMPTS,
  'challenge drift_monitors_update: main updates drift_monitors': MONITORS_HELD,
  'wallet program_days_delete_open: main deletes program_days': DAY_COUNTS_HELD,
  'wallet environment_days_delete_open: main deletes environment_days': DAY_COUNTS_HELD,
  'gateway complete_idempotency_records: CTE ending locks': SORTED_BY_CALLER,
  'gateway count_admissions_and_lock_keys: CTE locked inserts idempotency_records': SORTED_BY_CALLER,
  'gateway count_admissions_and_lock_keys: CTE counted inserts request_windows': SORTED_BY_CALLER,
  'gateway count_admissions_lock_keys_and_complete: CTE locked inserts idempotency_records': SORTED_BY_CALLER,
  'gateway count_admissions_lock_keys_and_complete: CTE counted inserts request_windows': SORTED_BY_CALLER,
  'gateway count_admissions_lock_keys_and_complete: CTE ending locks': SORTED_BY_CALLER,
  'gateway revoke_api_keys: main updates api_keys': 'one row at most, by api_keys_one_active',
  'gateway sessions.ts DELETE_EXPIRED: CTE gone deletes sessions':
    'one replica at a time, by an advisory lock; every other statement holds one session',
  'gateway operator-sessions.ts DELETE_EXPIRED: CTE gone deletes operator_sessions':
    'one replica at a time, by an advisory lock; every other statement holds one session',
  'gateway sign-in-links.ts DELETE_EXPIRED: CTE gone deletes sign_in_links':
    'one replica at a time, by an advisory lock; every other statement holds one link',
  'gateway use_sign_in_link: CTE used deletes sign_in_links':
    'one row at most: the hashes are those of one token under each pepper',
  'gateway use_sign_in_link: main inserts sessions': 'one row at most, for the link that its query `used` deletes',
  'gateway sign-in-failures.ts DELETE_OLD: CTE gone deletes sign_in_failures':
    'one replica at a time, by an advisory lock; every other statement holds one failure',
  'attempts idempotency-uses.ts DELETE: main deletes key_uses': 'locked by key_uses_lock, in the same transaction',
  'attempts signing-keys.ts REPLACE: main updates signing_keys': 'one row at most, by signing_keys_one_is_current',
  'tournament board_write: CTE counted updates board_chunks': BOARDS_HELD,
  'tournament board_write: CTE moved updates entries': BOARDS_HELD,
  'tournament board_write: CTE tallied updates round_tallies': BOARDS_HELD,
  'tournament entries_add_entrants: CTE bought updates entries':
    'its query `boards` has the boards, without which no statement writes an entry that is there',
  'tournament entries_add_entrants: main updates round_tallies': 'its query `boards` has them',
  'tournament entries_remove_entrants: CTE gone updates entries':
    'its query `boards` has the boards, without which no statement writes an entry that is there',
  'tournament entries_remove_entrants: main updates round_tallies': 'its query `boards` has them',
  'tournament outcomes_insert: CTE settled updates attempts': BOARDS_HELD,
  'tournament outcomes_insert: main inserts outcomes': BOARDS_HELD,
  'tournament seals.ts FINISH: CTE nodes inserts seal_nodes': 'its update has the round, which is sealed once',
  'tournament settlement.ts END_OPEN: CTE ended updates attempts': ROUND_HELD,
  'tournament settlement.ts END_OPEN: CTE gone updates entries': ROUND_HELD,
  'tournament settlement.ts END_OPEN: CTE queued inserts refunds_due': ROUND_HELD,
  'tournament settlement.ts INSERT_PAYOUTS: main inserts round_payouts': ROUND_HELD,
  'tournament settlement.ts RANK: main updates entries': ROUND_HELD,
  'tournament settlement.ts REFUND_SETTLED: main inserts refunds_due': ROUND_HELD,
  'wallet count_program_payouts: main updates program_limits': 'the caller holds the programs, by lock_programs',
  'wallet delete_links: main deletes player_links': 'the caller holds the pair of program and account, by lock_pair',
  'wallet open_house: main inserts ledger_accounts': 'its insert has the house, whose accounts these are',
  'wallet write_changes: CTE player_balances updates ledger_accounts': 'the caller holds the players, by lock_players',
};

const NO_INDEXES = { enable_indexscan: 'off', enable_indexonlyscan: 'off', enable_bitmapscan: 'off' };
const HOSTILE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'left to itself': {},
  'with hash joins alone': { ...NO_INDEXES, enable_nestloop: 'off', enable_mergejoin: 'off' },
  'with merge joins alone': { ...NO_INDEXES, enable_nestloop: 'off', enable_hashjoin: 'off' },
  'with loops over whole tables': { ...NO_INDEXES, enable_hashjoin: 'off', enable_mergejoin: 'off' },
};
/**
 * The settings of libs/postgres: unique keys are looked up in their indexes, so that the plan shows
 * which statements touch one row.
 */
const BY_INDEX = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' };

type Served = { readonly service: string; readonly client: pg.Client; readonly keys: UniqueKeys };

const held = new AsyncDisposableStack();
let statements: readonly WrittenStatement[];
let databases: readonly Served[];

beforeAll(async () => {
  // A cursor has the plan of its declaration. Statements that move or close a cursor have no plan,
  // nor has a vacuum.
  statements = (await loadWrittenStatements()).filter(({ text }) => !/^(fetch|close|vacuum) /.test(text));
  databases = await Promise.all(
    globSync('*/migrations', { cwd: fileURLToPath(services) })
      .sort()
      .map(async (folder) => {
        const scratch = held.use(await createTestDatabase({ migrations: new URL(`${folder}/`, services) }));
        const client = new pg.Client({ connectionString: scratch.url });
        await client.connect();
        held.defer(() => client.end());
        return { service: dirname(folder), client, keys: await loadUniqueKeys(client) };
      }),
  );
});
afterAll(() => held.disposeAsync());

test('every lock of several rows is taken in a defined order under every plan', async () => {
  const flaws: string[] = [];
  const excused = new Set<string>();
  for (const statement of statements) {
    for (const database of databasesOf(statement)) {
      for (const { id, flaw } of await flawsUnderAll(database, statement)) {
        const name = `${statement.label}: ${id}`;
        if (name in HELD_BEFORE) excused.add(name);
        else flaws.push(`${name}: ${flaw}`);
      }
    }
  }
  expect([...new Set(flaws)]).toEqual([]);
  expect([...excused].sort()).toEqual(Object.keys(HELD_BEFORE).sort());
}, 120_000);

test('every statement of a repository can be explained on its database', async () => {
  const strays: string[] = [];
  for (const statement of statements) {
    let isExplained = false;
    for (const { client } of databasesOf(statement)) {
      isExplained ||= (await explain(client, statement, BY_INDEX)) !== null;
    }
    if (!isExplained) strays.push(statement.label);
  }
  expect(strays).toEqual([]);
  expect(statements.length).toBeGreaterThan(200);
}, 120_000);

function databasesOf({ file }: WrittenStatement): readonly Served[] {
  const own = databases.filter(({ service }) => file.startsWith(`services/${service}/`));
  return own.length > 0 ? own : databases;
}

/** The lock points of several rows that have no order in some plan. */
async function flawsUnderAll({ client, keys }: Served, statement: WrittenStatement): Promise<readonly LockPoint[]> {
  if (skipsLocked(statement)) return [];
  const byIndex = await explain(client, statement, BY_INDEX);
  if (byIndex === null) return [];
  const points = lockPointsOf(byIndex, keys);
  const single = new Set(points.flatMap((point) => (point.touchesOneRow ? [point.id] : [])));
  if (points.length === single.size) return [];
  const found = new Map<string, LockPoint>();
  for (const settings of [BY_INDEX, ...Object.values(HOSTILE)]) {
    const plan = await explain(client, statement, settings);
    if (plan === null) throw new Error('a statement could be explained before, and no longer can');
    for (const point of lockPointsOf(plan, keys)) {
      if (point.flaw !== null && !single.has(point.id)) found.set(point.id, point);
    }
  }
  return [...found.values()];
}

function skipsLocked({ text }: WrittenStatement): boolean {
  const clauses = text.match(/\bfor (?:no key update|update|key share|share)\b(?: of \w+)?(?: skip locked)?/g) ?? [];
  return clauses.length > 0 && clauses.every((clause) => clause.endsWith('skip locked'));
}

// No such table, column or function.
const IS_OF_ANOTHER_DATABASE: ReadonlySet<string | undefined> = new Set(['42P01', '42703', '42883']);

/** Explains a statement; null if the statement does not belong to this database. */
async function explain(
  client: pg.Client,
  { text }: WrittenStatement,
  settings: Readonly<Record<string, string>>,
): Promise<PlanNode | null> {
  await client.query('begin');
  try {
    for (const [name, value] of Object.entries(settings)) await client.query(`set local ${name} = ${value}`);
    const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
      `explain (generic_plan, verbose, format json) ${text}`,
    );
    return rows[0]?.['QUERY PLAN'][0].Plan ?? null;
  } catch (error) {
    if (error instanceof pg.DatabaseError && IS_OF_ANOTHER_DATABASE.has(error.code)) return null;
    throw new Error(`cannot explain ${text}`, { cause: error });
  } finally {
    await client.query('rollback');
  }
}

async function loadUniqueKeys(client: pg.Client): Promise<UniqueKeys> {
  const { rows } = await client.query<{ table: string; index: string; columns: string[] }>(`
    select c.relname as table, i.relname as index,
      array(select a.attname::text from unnest(x.indkey) with ordinality as k (attnum, position)
            join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum order by k.position) as columns
    from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
    where x.indisunique and x.indpred is null and x.indexprs is null and c.relnamespace = 'public'::regnamespace`);
  const keys = new Map<string, Map<string, readonly string[]>>();
  for (const { table, index, columns } of rows) {
    const ofTable = keys.get(table) ?? new Map<string, readonly string[]>();
    keys.set(table, ofTable.set(index, columns));
  }
  return keys;
}
