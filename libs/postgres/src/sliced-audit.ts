/**
 * An audit that is bounded in time and memory, however large the tables are. A run has three parts:
 *
 * 1. Checks without slices, over whole tables and in one snapshot: totals, guards, and tables that
 *    stay small.
 * 2. The new rows of the tables that grow, since the run before the last one. The last run may have
 *    missed rows that a transaction had written but not committed.
 * 3. Slices of a pass, until the run has used its time. A pass walks each table in key order, a
 *    page at a time, and a slice applies all rules of the walk to the rows of one page. So every
 *    pass audits every row, even rows that have not changed for years.
 *
 * One run completes a pass that began long ago, however long that takes. One run also completes the
 * first pass of a database, because the results do not cover every row before.
 *
 * Each slice is one transaction, which also stores how far the pass has come. A process that dies
 * loses one slice, and another replica continues. Two replicas never store the same slice, because
 * the second one finds that the pass has moved on.
 *
 * Findings are stored by row. A violation is reported until the slice with its row is audited again
 * without the violation. The number of violations is the number of distinct ids found.
 *
 * A sum over the rows of many slices adds up slice by slice in `audit_sums`, and is compared when
 * the pass ends. Rows that are written during the pass must not enter the sums. So the pass stores
 * the snapshot in which it began, and counts only rows that were visible in this snapshot
 * (inSnapshotSql).
 *
 * Rows of two databases are compared outside a transaction (ComparedWalk). The slice then stores
 * what the comparison found.
 *
 * The service creates the tables in its own migration: audit_passes, audit_findings, audit_sums
 * (services/wallet/migrations/0030_create_audit_passes.sql).
 */
import { type CheckResult, type EnvironmentsOfIds, runChecks } from './audit.ts';
import { createFindings } from './audit-findings.ts';
import { sliceSql } from './audit-rows.ts';
import { auditTail, compareNew } from './audit-tails.ts';
import {
  type AnyWalk,
  type ComparedWalk,
  LOWEST_KEY,
  SLICE_TIMEOUT_MS,
  type SlicedCheck,
  type Walk,
  WITHOUT_JIT,
} from './audit-walk.ts';
import type { Database } from './database.ts';
import type { Statement } from './step.ts';
import type { Transaction } from './transaction.ts';

/** Limits that a test lowers, so that few rows make many slices and a pass takes many runs. */
export interface SliceLimits {
  readonly runBudgetMs?: number;
  readonly maxPageSize?: number;
}

export interface SlicedAudit {
  /** Makes one run. Returns every check with its known violations. */
  run(signal?: AbortSignal): Promise<CheckResult[]>;
  /**
   * Returns when the last whole pass ended, in seconds since 1970. Before the first pass ends,
   * returns when it began; null if it has not begun.
   */
  passCompletedAt(): Promise<number | null>;
}

/** The time for part 3 of a run: a tenth of the default interval between runs. */
const RUN_BUDGET_MS = 60_000;
/** A pass older than this is completed in one run, so that no pass takes a day. */
const LATE_PASS_HOURS = 12;

/**
 * SQL: whether the snapshot of the pass contains a row of `table`, whose rows are never updated. A
 * row's `xmin` lacks the upper 32 bits; they are taken from the newest transaction at the time of
 * the slice. They would be wrong for a row that is billions of transactions old. So a row that was
 * written more than an hour before the pass counts without this comparison, because no transaction
 * lasts that long.
 */
export function inSnapshotSql(table: string, createdAt: string): string {
  return `(${createdAt} < pass.started_at - interval '1 hour' or pg_visible_in_snapshot(
    (pass.newest - mod(pass.newest - ${table}.xmin::text::bigint, 4294967296))::text::xid8, pass.snapshot))`;
}

const PASS = `
  pass as materialized (
    select started_at, snapshot::pg_snapshot as snapshot, pg_snapshot_xmax(pg_current_snapshot())::text::bigint as newest
    from audit_passes
  )`;

const INSERT: Statement = {
  text: `insert into audit_passes (id, tails) values (1, '{}') on conflict (id) do nothing`,
};

// A pass whose snapshot is from the future begins again: a logical restore has brought the snapshot
// from another server.
const LOAD: Statement = {
  text: `
select started_at, walk, after,
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

type Pass = {
  readonly startedAt: Date;
  readonly walk: AnyWalk;
  readonly after: string;
  readonly isUrgent: boolean;
};
type PassRow = {
  started_at: Date | null;
  walk: string | null;
  after: string | null;
  is_urgent: boolean;
  is_foreign: boolean | null;
};

export function createSlicedAudit({
  database,
  checks,
  walks: allTables,
  comparedChecks = {},
  comparedWalks: allCompared = [],
  environments,
  startSums,
  runBudgetMs = RUN_BUDGET_MS,
  maxPageSize = Number.POSITIVE_INFINITY,
}: {
  readonly database: Database;
  readonly checks: readonly SlicedCheck[];
  /** The walks over tables, in the order of a pass. */
  readonly walks: readonly Walk[];
  /** The invariants that the compared walks check: sentences, by the id of the check. */
  readonly comparedChecks?: Readonly<Record<string, string>>;
  /** The walks that compare two databases. A pass makes them after the other walks. */
  readonly comparedWalks?: readonly ComparedWalk[];
  readonly environments: EnvironmentsOfIds;
  /** A query of the rows `(name, key, cents)` with which `audit_sums` begins in each pass. */
  readonly startSums: string;
} & SliceLimits): SlicedAudit {
  const whole = checks.filter(({ slices, atEnd }) => slices === undefined && atEnd === undefined);
  const begin = beginStatement(startSums);
  const tables = allTables.map((walk) => atMost(maxPageSize, walk));
  const sumsOf = new Map(tables.map((walk) => [walk.name, sumStatement(walk)]));
  const comparedWalks = allCompared.map((walk) => atMost(maxPageSize, walk));
  const walks: readonly AnyWalk[] = [...tables, ...comparedWalks];
  const described = [...checks, ...Object.entries(comparedChecks).map(([id, description]) => ({ id, description }))];

  const findings = createFindings({ checks, walks: tables, described, environments });

  async function loadPass(): Promise<Pass | undefined> {
    const [row] = await database.query<PassRow>(LOAD);
    if (row?.started_at == null || row.after === null || row.is_foreign === true) return undefined;
    const walk = walks.find(({ name }) => name === row.walk);
    // If a release has renamed the walk, the pass begins again.
    return walk && { startedAt: row.started_at, walk, after: row.after, isUrgent: row.is_urgent };
  }

  async function beginPass(): Promise<void> {
    await database.transaction(
      async (tx) => {
        await tx.query(LOCK_ANY);
        await tx.query(EMPTY_SUMS);
        await tx.query(begin, [walks[0]?.name]);
      },
      { statementTimeoutMs: SLICE_TIMEOUT_MS },
    );
  }

  /** Audits one slice. True if the pass ended with this slice. */
  async function auditSlice({ startedAt, walk, after }: Pass): Promise<boolean> {
    const audit = await prepareSlice(walk, after);
    return await database.transaction(
      async (tx) => {
        await tx.query(WITHOUT_JIT);
        const locked = await tx.query(LOCK, [startedAt, walk.name, after]);
        if (locked.length === 0) throw new Error('another replica has audited this slice');
        const until = await audit(tx);
        if (until !== null) {
          await tx.query(MOVE, [walk.name, until]);
          return false;
        }
        const next = walks[walks.indexOf(walk) + 1];
        if (next !== undefined) {
          await tx.query(MOVE, [next.name, LOWEST_KEY]);
          return false;
        }
        await findings.replaceAtEnd(tx);
        await tx.query(EMPTY_SUMS);
        await tx.query(COMPLETE);
        return true;
      },
      { statementTimeoutMs: SLICE_TIMEOUT_MS },
    );
  }

  /**
   * Compares before the transaction begins, so that the transaction never waits for another
   * database.
   */
  async function prepareSlice(walk: AnyWalk, after: string): Promise<(tx: Transaction) => Promise<string | null>> {
    if (!('compare' in walk)) return (tx) => auditPage(tx, walk, after);
    const compared = await walk.compare(after, walk.pageSize);
    return (tx) => findings.replaceCompared(tx, walk.name, after, compared);
  }

  /** Audits a page. Returns the last key of the page; null if no row follows. */
  async function auditPage(tx: Transaction, walk: Walk, after: string): Promise<string | null> {
    const rows = await tx.query<{ key: string }>({ text: walk.page }, [after, walk.pageSize]);
    const keys = rows.map(({ key }) => key);
    const isLast = walk.isWeighed ? keys.length === 0 : keys.length < walk.pageSize;
    const until = isLast ? null : (keys.at(-1) ?? null);
    await findings.replaceBetween(tx, walk.name, { after, until, keys });
    const sums = sumsOf.get(walk.name);
    if (sums !== undefined) await tx.query(sums, [keys]);
    return until;
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
        for (const walk of tables) await auditTail({ database, findings }, walk, signal);
        await continuePass(signal);
        for (const walk of comparedWalks) await compareNew({ database, findings }, walk, signal);
      } catch (error) {
        // If an index is missing, a slice takes too long. The missing index is itself a violation,
        // which must be reported although the slice failed. The age of the pass shows that it
        // stands still.
        if (signal?.aborted || results.every(({ violations }) => violations === 0n)) throw error;
      }
      const found = await findings.load(database);
      return found.map((result) => results.find(({ id }) => id === result.id) ?? result);
    },
    async passCompletedAt() {
      const [row] = await database.query<{ seconds: number | null }>(COMPLETED_AT);
      return row?.seconds ?? null;
    },
  };
}

function atMost<W extends AnyWalk>(pageSize: number, walk: W): W {
  return { ...walk, pageSize: Math.min(walk.pageSize, pageSize) };
}

/**
 * Returns the statement that adds up the sums of a slice. The statement has a name, so that a
 * connection plans it once.
 */
function sumStatement(walk: Walk): Statement | undefined {
  if (walk.sums === undefined) return undefined;
  return {
    name: `audit_sum_${walk.name}`,
    text: `
with ${sliceSql(walk)}, ${PASS}
insert into audit_sums as total (name, key, cents)
select name, key, sum(cents) from (${walk.sums}) as part group by name, key order by name, key
on conflict (name, key) do update set cents = total.cents + excluded.cents`,
  };
}
