/**
 * Audits new rows in each run of an audit in slices (sliced-audit.ts): the rows since the run
 * before the last one.
 */
import type { Findings } from './audit-findings.ts';
import {
  type ComparedWalk,
  type InstantTail,
  type KeyTail,
  type PageTail,
  SLICE_TIMEOUT_MS,
  type Walk,
  WITHOUT_JIT,
} from './audit-walk.ts';
import type { Database } from './database.ts';
import type { Statement } from './step.ts';
import type { Transaction } from './transaction.ts';

/** The most pages of a table in one slice: some thousand rows. */
const TAIL_PAGES = 64;

/** One query returns the keys of a minute, so that a run keeps few keys in memory. */
const WINDOW_MS = 60_000;
/**
 * A row's instant is read before the row is committed, and by another machine's clock. A row that
 * is committed later than this after its instant may wait for the pass.
 */
const LATE_MS = 60_000;
/** How far the first run of this software version reads back: two runs, at the default interval. */
const FIRST_MS = 20 * 60_000;

const PAGES: Statement = {
  text: `select pg_relation_size($1::regclass) / current_setting('block_size')::bigint as pages`,
};
const MOVE_TAIL: Statement = {
  text: `update audit_passes set tails = tails || jsonb_build_object($1::text, $2::jsonb)`,
};
const LOAD_TAILS: Statement = {
  text: `select tails::text as tails, extract(epoch from clock_timestamp())::float8 * 1000 as now_ms from audit_passes`,
};

/**
 * `from` is where this run begins to read, and `to` is where the next run begins: pages of a table,
 * or ms since 1970.
 */
type Tail = { readonly from: number; readonly to: number };

interface Audited {
  readonly database: Database;
  readonly findings: Findings;
}

/** Audits the new rows of a walk, if the walk has a `tail` by which to find them. */
export async function auditTail(audited: Audited, walk: Walk, signal?: AbortSignal): Promise<void> {
  const { tail } = walk;
  if (tail === undefined) return;
  if ('table' in tail) await auditLastPages(audited, walk.name, tail, signal);
  else if ('keysBetween' in tail) await auditLastInstants(audited, walk, tail, signal);
  else await auditLastKeys(audited, walk, tail, signal);
}

/** Audits the new rows of a walk whose keys begin with a time. */
async function auditLastKeys(
  { database, findings }: Audited,
  { name, page, pageSize }: Walk,
  { leastKeyAt }: KeyTail,
  signal?: AbortSignal,
): Promise<void> {
  // Not the walk's own name, under which an older software version stored a page of the table.
  const tail = `${name} by key`;
  const { last, nowMs } = await loadTail(database, tail);
  for (let after: string | null = leastKeyAt(new Date(last?.from ?? nowMs)); after !== null; ) {
    signal?.throwIfAborted();
    const from: string = after;
    after = await inSlice(database, async (tx) => {
      const keys = (await tx.query<{ key: string }>({ text: page }, [from, pageSize])).map(({ key }) => key);
      await findings.replaceOf(tx, name, keys);
      return keys.length < pageSize ? null : (keys.at(-1) ?? null);
    });
  }
  await moveTail(database, tail, last, nowMs);
}

/** Audits the new rows of a walk that finds them by the time at which they were written. */
async function auditLastInstants(
  { database, findings }: Audited,
  { name, pageSize }: Walk,
  { keysBetween }: InstantTail,
  signal?: AbortSignal,
): Promise<void> {
  // Not the name of the table, under which an older software version stored one of its pages.
  const tail = `${name} by instant`;
  const { last, nowMs } = await loadTail(database, tail);
  const first = last === undefined ? nowMs - FIRST_MS : last.from - LATE_MS;
  for (let from = first; from < nowMs; from += WINDOW_MS) {
    // The last window has no end, because a row may be dated ahead of the database's clock.
    const until = from + WINDOW_MS < nowMs ? new Date(from + WINDOW_MS) : 'infinity';
    const rows = await inSlice(database, (tx) =>
      tx.query<{ key: string }>({ text: keysBetween }, [new Date(from), until]),
    );
    for (let start = 0; start < rows.length; start += pageSize) {
      signal?.throwIfAborted();
      const keys = rows.slice(start, start + pageSize).map(({ key }) => key);
      await inSlice(database, (tx) => findings.replaceOf(tx, name, keys));
    }
  }
  await moveTail(database, tail, last, nowMs);
}

/** Audits the new rows of a table, which are in the pages at its end. */
async function auditLastPages(
  { database, findings }: Audited,
  name: string,
  { table, key }: PageTail,
  signal?: AbortSignal,
): Promise<void> {
  const { last } = await loadTail(database, table);
  const [size] = await database.query<{ pages: bigint }>(PAGES, [table]);
  const pages = Number(size?.pages ?? 0n);
  const keysOf: Statement = {
    text: `select ${key} as key from ${table} where ctid >= $1::text::tid and ctid < $2::text::tid`,
  };
  for (let from = last?.from ?? pages; from < pages; from += TAIL_PAGES) {
    signal?.throwIfAborted();
    await inSlice(database, async (tx) => {
      const rows = await tx.query<{ key: string }>(keysOf, [`(${from},0)`, `(${from + TAIL_PAGES},0)`]);
      await findings.replaceOf(
        tx,
        name,
        rows.map((one) => one.key),
      );
    });
  }
  // The last page may have room for more rows, so the next run reads it again. Earlier pages may
  // have room too, if several writers extended the table at once or a transaction was rolled back.
  // New rows on those pages wait for the pass.
  await moveTail(database, table, last, Math.max(pages - 1, 0));
}

/**
 * Compares the new rows with the other database. New rows are found by their ids, which begin with
 * a time.
 */
export async function compareNew(
  { database, findings }: Audited,
  walk: ComparedWalk,
  signal?: AbortSignal,
): Promise<void> {
  const { last, nowMs } = await loadTail(database, walk.name);
  for (let after: string | null = walk.leastKeyAt(new Date(last?.from ?? nowMs)); after !== null; ) {
    signal?.throwIfAborted();
    const from: string = after;
    const compared = await walk.compare(from, walk.pageSize);
    after = await database.transaction((tx) => findings.replaceCompared(tx, walk.name, from, compared));
  }
  await moveTail(database, walk.name, last, nowMs);
}

function inSlice<Result>(database: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return database.transaction(
    async (tx) => {
      await tx.query(WITHOUT_JIT);
      return await work(tx);
    },
    { statementTimeoutMs: SLICE_TIMEOUT_MS },
  );
}

async function loadTail(
  database: Database,
  name: string,
): Promise<{ readonly last: Tail | undefined; readonly nowMs: number }> {
  const [row] = await database.query<{ tails: string; now_ms: number }>(LOAD_TAILS);
  return { last: (JSON.parse(row?.tails ?? '{}') as Record<string, Tail>)[name], nowMs: row?.now_ms ?? 0 };
}

async function moveTail(database: Database, name: string, last: Tail | undefined, to: number): Promise<void> {
  const next: Tail = { from: Math.min(last?.to ?? to, to), to };
  await database.query(MOVE_TAIL, [name, JSON.stringify(next)]);
}
