/**
 * An audit that is bounded in time and memory, however large the tables are. A run has three parts:
 *
 * 1. Checks without slices, whole and in one snapshot: totals, guards, and tables that stay small.
 * 2. The new rows of append-only tables, since the run before the last. The last run may have
 *    missed rows that a transaction had written and not committed.
 * 3. Slices of a pass, until the run has used its time. A pass walks each table by its key, a page
 *    at a time, and a slice applies all rules of the walk to the rows of one page. So the passes
 *    together audit every row again and again, also rows that have not changed for years.
 *
 * A pass that began long ago is completed in one run, whatever that takes, and so is the first one
 * of a database: until then its results do not cover every row.
 *
 * Each slice is one transaction, which also stores how far the pass has come. A process that dies
 * loses one slice, and another replica continues. Two replicas never store the same slice, because
 * the second one finds that the pass has moved on.
 *
 * Findings are stored by row. A violation stays reported until the slice with its row is audited
 * again and is whole. The number of violations is that of the distinct ids found.
 *
 * Sums over more rows than a slice has add up slice by slice in `audit_sums`, and are compared when
 * the pass ends. Rows that are written during the pass must not enter them, so the pass keeps the
 * snapshot in which it began; a rule counts only rows that were visible in it (IN_SNAPSHOT).
 *
 * The service creates the tables in its own migration: audit_passes, audit_findings, audit_sums
 * (services/wallet/migrations/0030_create_audit_passes.sql).
 */
import {
  type Check,
  type CheckResult,
  type EnvironmentsOfIds,
  locatedSql,
  MAX_EXAMPLES,
  namedSql,
  runChecks,
} from './audit.ts';
import type { Database } from './database.ts';
import type { Statement } from './step.ts';
import type { Transaction } from './transaction.ts';

/** How a pass reads one table, in the order of a unique uuid. */
export interface Walk {
  readonly name: string;
  /** Rows of a slice. */
  readonly pageSize: number;
  /** A query of `key` above `$1`, in its order, at most `$2`. */
  readonly page: string;
  /**
   * Queries of rows of `slice (key)` that several rules read, by the name that the rules give them:
   * each is read once for all rules of the walk.
   */
  readonly shared?: Readonly<Record<string, string>>;
  /**
   * A query of `(name, key, cents)` over `slice (key)` and `pass` (IN_SNAPSHOT), which is added to
   * `audit_sums`.
   */
  readonly sums?: string;
  /**
   * An append-only table whose new rows each run audits, and the column that is the walk's key.
   * Its pages stand for the order in which its rows were written, which no index does.
   */
  readonly tail?: { readonly table: string; readonly key: string };
}

/** A check without `slices` and `atEnd` runs as a whole in each run. */
export interface SlicedCheck extends Check {
  /**
   * By the name of a walk, the same rule over the rows of `slice (key)` and what the walk shares. A
   * row of the query has the violation's `id` and the `key` of the row in the slice.
   */
  readonly slices?: Readonly<Record<string, string>>;
  /** The part of the rule that compares `audit_sums`, a query like `violations`. */
  readonly atEnd?: string;
}

export interface SlicedAudit {
  /** One run. Returns every check, with what is known to violate it. */
  run(signal?: AbortSignal): Promise<CheckResult[]>;
  /**
   * When the last whole pass ended; before the first one ends, when it began. Null before that. In
   * seconds since 1970.
   */
  passCompletedAt(): Promise<number | null>;
}

/** Below every key; also the key of what the end of a pass finds. */
const LOWEST_KEY = '00000000-0000-0000-0000-000000000000';
/** Part 3 of a run: a tenth of the default interval between runs. */
const RUN_BUDGET_MS = 60_000;
/** A pass older than this is completed in one run, so that no pass takes a day. */
const LATE_PASS_HOURS = 12;
/** Well above what a slice takes, for a machine that is busy. */
const SLICE_TIMEOUT_MS = 30_000;
/** Pages of a tail in one slice: some thousand rows. */
const TAIL_PAGES = 64;

/**
 * For a row `table` that is only ever inserted: whether the snapshot of the pass had it. A row's
 * `xmin` lacks its upper 32 bits, which are those of the newest transaction at the time of the
 * slice. They would be wrong for a row that is billions of transactions old, so rows written an
 * hour before the pass count without a look at them: no transaction lasts that long.
 */
export function inSnapshotSql(table: string, createdAt: string): string {
  return `(${createdAt} < pass.started_at - interval '1 hour' or pg_visible_in_snapshot(
    (pass.newest - mod(pass.newest - ${table}.xmin::text::bigint, 4294967296))::text::xid8, pass.snapshot))`;
}

const SLICE = 'slice as materialized (select key from unnest($1::uuid[]) as keys (key))';
const PASS = `
  pass as materialized (
    select started_at, snapshot::pg_snapshot as snapshot, pg_snapshot_xmax(pg_current_snapshot())::text::bigint as newest
    from audit_passes
  )`;

/** Compiling statements costs more than a slice takes. */
const WITHOUT_JIT: Statement = { text: `select set_config('jit', 'off', true)` };

const INSERT: Statement = {
  text: `insert into audit_passes (id, tails) values (1, '{}') on conflict (id) do nothing`,
};

// A snapshot from the future comes from another server, by a logical restore: such a pass begins
// again.
const LOAD: Statement = {
  text: `
select started_at, walk, after, tails::text as tails,
  completed_at is null or started_at < clock_timestamp() - interval '${LATE_PASS_HOURS} hours' as is_urgent,
  pg_snapshot_xmax(snapshot::pg_snapshot)::text::bigint > pg_snapshot_xmax(pg_current_snapshot())::text::bigint as is_foreign
from audit_passes`,
};

const beginStatement = (start: string): Statement => ({
  text: `
with stored as (insert into audit_sums (name, key, cents) select name, key, cents from (${start}) as start)
update audit_passes
set started_at = clock_timestamp(), walk = $1, after = '${LOWEST_KEY}', snapshot = pg_current_snapshot()::text`,
});

const LOCK_ANY: Statement = { text: 'select id from audit_passes for no key update' };

const LOCK: Statement = {
  text: 'select id from audit_passes where started_at = $1 and walk = $2 and after = $3 for no key update',
};

const MOVE: Statement = { text: 'update audit_passes set walk = $1, after = $2' };

const COMPLETE: Statement = {
  text: `
update audit_passes set completed_at = clock_timestamp(), started_at = null, walk = null, after = null, snapshot = null`,
};

const COMPLETED_AT: Statement = {
  text: 'select extract(epoch from coalesce(completed_at, started_at))::float8 as seconds from audit_passes',
};

const EMPTY_SUMS: Statement = { text: 'delete from audit_sums' };
const DELETE_OTHERS: Statement = { text: 'delete from audit_findings where check_id <> all ($1::text[])' };
const DELETE_BETWEEN: Statement = {
  text: 'delete from audit_findings where walk = $1 and key > $2 and ($3::uuid is null or key <= $3)',
};
const DELETE_OF_KEYS: Statement = { text: 'delete from audit_findings where walk = $1 and key = any ($2::uuid[])' };
const DELETE_OF_END: Statement = { text: `delete from audit_findings where walk = ''` };

const PAGES: Statement = {
  text: `select pg_relation_size($1::regclass) / current_setting('block_size')::bigint as pages`,
};
const MOVE_TAIL: Statement = {
  text: `update audit_passes set tails = tails || jsonb_build_object($1::text, $2::jsonb)`,
};

const FOUND: Statement = {
  text: `
select check_id, count(*) as violations, count(*) filter (where environment = 'test') as test_violations,
  (array_agg(id order by environment, id))[1:${MAX_EXAMPLES}] as examples
from (select distinct check_id, id, environment from audit_findings) as found
group by check_id`,
};

/** The pages from which on a run reads a tail: this run, and the next one. */
type Tail = { readonly from: number; readonly to: number };
type Pass = {
  readonly startedAt: Date;
  readonly walk: Walk;
  readonly after: string;
  readonly isUrgent: boolean;
};
type PassRow = {
  started_at: Date | null;
  walk: string | null;
  after: string | null;
  tails: string;
  is_urgent: boolean;
  is_foreign: boolean | null;
};
type FoundRow = { check_id: string; violations: bigint; test_violations: bigint; examples: string[] };

export function createSlicedAudit({
  database,
  checks,
  walks,
  environments,
  startSums,
  runBudgetMs = RUN_BUDGET_MS,
}: {
  readonly database: Database;
  readonly checks: readonly SlicedCheck[];
  /** In the order of a pass. */
  readonly walks: readonly Walk[];
  readonly environments: EnvironmentsOfIds;
  /** A query of `(name, key, cents)` that `audit_sums` holds when a pass begins. */
  readonly startSums: string;
  readonly runBudgetMs?: number;
}): SlicedAudit {
  const whole = checks.filter(({ slices, atEnd }) => slices === undefined && atEnd === undefined);
  const slicesOf = new Map(walks.map((walk) => [walk, sliceStatement(walk, checks, environments)]));
  const sumsOf = new Map(walks.map((walk) => [walk, sumStatement(walk)]));
  const begin = beginStatement(startSums);

  async function loadPass(): Promise<Pass | undefined> {
    const [row] = await database.query<PassRow>(LOAD);
    if (row?.started_at == null || row.after === null || row.is_foreign === true) return undefined;
    const walk = walks.find(({ name }) => name === row.walk);
    // A release that renames a walk begins the pass again.
    return walk && { startedAt: row.started_at, walk, after: row.after, isUrgent: row.is_urgent };
  }

  async function beginPass(): Promise<void> {
    await database.transaction(async (tx) => {
      await tx.query(LOCK_ANY);
      await tx.query(EMPTY_SUMS);
      await tx.query(begin, [walks[0]?.name]);
    });
  }

  /** True if the pass ended with this slice. */
  async function auditSlice({ startedAt, walk, after }: Pass): Promise<boolean> {
    return await database.transaction(
      async (tx) => {
        await tx.query(WITHOUT_JIT);
        const locked = await tx.query(LOCK, [startedAt, walk.name, after]);
        if (locked.length === 0) throw new Error('another replica has audited this slice');
        const rows = await tx.query<{ key: string }>({ text: walk.page }, [after, walk.pageSize]);
        const keys = rows.map(({ key }) => key);
        const until = keys.length < walk.pageSize ? null : (keys.at(-1) ?? null);
        await tx.query(DELETE_BETWEEN, [walk.name, after, until]);
        await findIn(tx, walk, keys);
        const sums = sumsOf.get(walk);
        if (sums !== undefined) await tx.query(sums, [keys]);
        if (until !== null) {
          await tx.query(MOVE, [walk.name, until]);
          return false;
        }
        const next = walks[walks.indexOf(walk) + 1];
        if (next !== undefined) {
          await tx.query(MOVE, [next.name, LOWEST_KEY]);
          return false;
        }
        await endPass(tx);
        return true;
      },
      { statementTimeoutMs: SLICE_TIMEOUT_MS },
    );
  }

  async function findIn(tx: Transaction, walk: Walk, keys: readonly string[]): Promise<void> {
    const statement = slicesOf.get(walk);
    if (statement !== undefined) await tx.query(statement, [keys]);
  }

  async function endPass(tx: Transaction): Promise<void> {
    await tx.query(DELETE_OF_END);
    for (const { id, atEnd } of checks) {
      if (atEnd !== undefined) await tx.query({ text: findSql(violationsOf(id, '', atEnd), environments) });
    }
    await tx.query(DELETE_OTHERS, [checks.map(({ id }) => id)]);
    await tx.query(EMPTY_SUMS);
    await tx.query(COMPLETE);
  }

  async function auditTail(walk: Walk, { table, key }: NonNullable<Walk['tail']>, signal?: AbortSignal): Promise<void> {
    const [row] = await database.query<PassRow>(LOAD);
    const last = (JSON.parse(row?.tails ?? '{}') as Record<string, Tail>)[table];
    const [size] = await database.query<{ pages: bigint }>(PAGES, [table]);
    const pages = Number(size?.pages ?? 0n);
    const keysOf: Statement = {
      text: `select ${key} as key from ${table} where ctid >= $1::text::tid and ctid < $2::text::tid`,
    };
    for (let from = last?.from ?? pages; from < pages; from += TAIL_PAGES) {
      signal?.throwIfAborted();
      await database.transaction(
        async (tx) => {
          await tx.query(WITHOUT_JIT);
          const rows = await tx.query<{ key: string }>(keysOf, [`(${from},0)`, `(${from + TAIL_PAGES},0)`]);
          const keys = rows.map((one) => one.key);
          await tx.query(DELETE_OF_KEYS, [walk.name, keys]);
          await findIn(tx, walk, keys);
        },
        { statementTimeoutMs: SLICE_TIMEOUT_MS },
      );
    }
    // The last page may have room for more rows. So may earlier ones, where several writers
    // extended the table at once or a transaction was rolled back: rows there wait for the pass.
    const to = Math.max(pages - 1, 0);
    const next: Tail = { from: Math.min(last?.to ?? to, to), to };
    await database.query(MOVE_TAIL, [table, JSON.stringify(next)]);
  }

  async function continuePass(signal?: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const pass = await loadPass();
      if (pass === undefined) {
        await beginPass();
        continue;
      }
      const isEnd = await auditSlice(pass);
      if (isEnd || (!pass.isUrgent && performance.now() - startedAt >= runBudgetMs)) return;
    }
  }

  return {
    async run(signal) {
      await database.query(INSERT);
      const results = await runChecks(database, whole, environments, signal);
      try {
        for (const walk of walks) if (walk.tail !== undefined) await auditTail(walk, walk.tail, signal);
        await continuePass(signal);
      } catch (error) {
        // Without one of its indexes a slice takes too long. The violation that says so is reported
        // all the same; that the pass stands still shows in its age.
        if (signal?.aborted || results.every(({ violations }) => violations === 0n)) throw error;
      }
      const found = new Map((await database.query<FoundRow>(FOUND)).map((row) => [row.check_id, row]));
      return checks.map(({ id, description }): CheckResult => {
        const row = found.get(id);
        return (
          results.find((result) => result.id === id) ?? {
            id,
            description,
            violations: row?.violations ?? 0n,
            testViolations: row?.test_violations ?? 0n,
            examples: row?.examples ?? [],
          }
        );
      });
    },
    async passCompletedAt() {
      const [row] = await database.query<{ seconds: number | null }>(COMPLETED_AT);
      return row?.seconds ?? null;
    },
  };
}

/**
 * One statement for all rules of a walk; `$1` is the keys of the slice. It has a name, so that a
 * connection plans it once: to plan it takes longer than to run it.
 */
function sliceStatement(
  walk: Walk,
  checks: readonly SlicedCheck[],
  environments: EnvironmentsOfIds,
): Statement | undefined {
  const found = checks.flatMap(({ id, slices }) => {
    const violations = slices?.[walk.name];
    return violations === undefined ? [] : [violationsOf(id, walk.name, violations)];
  });
  if (found.length === 0) return undefined;
  return named('find', walk, `with ${sharedSql(walk)} ${findSql(found.join(' union all '), environments)}`);
}

function sumStatement(walk: Walk): Statement | undefined {
  if (walk.sums === undefined) return undefined;
  return named(
    'sum',
    walk,
    `
with ${sharedSql(walk)}, ${PASS}
insert into audit_sums as total (name, key, cents)
select name, key, sum(cents) from (${walk.sums}) as part group by name, key order by name, key
on conflict (name, key) do update set cents = total.cents + excluded.cents`,
  );
}

function sharedSql({ shared = {} }: Walk): string {
  return [SLICE, ...Object.entries(shared).map(([name, rows]) => `${name} as materialized (${rows})`)].join(', ');
}

/** As SQL: the violations of a rule, with the rule and the walk in which it was found. */
function violationsOf(checkId: string, walk: string, violations: string): string {
  return `
select '${checkId}' as check_id, '${walk}' as walk, violation.* from (${namedSql(violations)}) as violation`;
}

function findSql(violations: string, environments: EnvironmentsOfIds): string {
  return `
insert into audit_findings (check_id, walk, key, id, environment)
select distinct check_id, walk, coalesce(key, '${LOWEST_KEY}')::uuid, coalesce(id, key, ''), case when is_test then 'test' else 'live' end
from (${locatedSql(violations, environments)}) as located`;
}

/** Walks of one name have one text for each purpose. */
function named(purpose: string, walk: Walk, text: string): Statement {
  return { name: `audit_${purpose}_${walk.name}`, text };
}
