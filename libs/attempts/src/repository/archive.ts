/** The queries of an archive run that are the same for every contest service. */
import type { Queryable, Statement } from '@laurel/postgres';
import type { Line } from '../archive/lines.ts';
import type { Total } from '../domain/archived-rows.ts';

const LOCK: Statement = {
  text: `select pg_try_advisory_xact_lock(hashtextextended('laurel archive', 0)) as is_locked`,
};

// Without this, PostgreSQL prints the instants of a JSON row in the session's own time zone.
const PRINT_IN_UTC: Statement = { text: `select set_config('timezone', 'UTC', true)` };

const INSTANT: Statement = { text: 'select now() as written_at' };

const FETCH: Statement = { text: 'fetch forward 2000 from archived_lines' };
const CLOSE: Statement = { text: 'close archived_lines' };

/** Locks the archive until the transaction ends. Returns false if another run holds the lock. */
export async function lockArchive(tx: Queryable): Promise<boolean> {
  const [row] = await tx.query<{ is_locked: boolean }>(LOCK);
  return row?.is_locked === true;
}

export async function printInUtc(tx: Queryable): Promise<void> {
  await tx.query(PRINT_IN_UTC);
}

/** Returns the instant at which the transaction began. */
export async function archiveInstant(tx: Queryable): Promise<Date> {
  const [row] = await tx.query<{ written_at: Date }>(INSTANT);
  if (row === undefined) throw new Error('the database has no time');
  return row.written_at;
}

/**
 * Yields the rows of a cursor in pages, in the cursor's order. `declare` opens the cursor as
 * `archived_lines`, with the text columns `key` and `line`. The database sorts the rows once,
 * however many pages there are.
 */
export async function* readCursor(
  tx: Queryable,
  declare: Statement,
  values: readonly unknown[],
): AsyncGenerator<readonly Line[]> {
  await tx.query(declare, values);
  for (;;) {
    const page = await tx.query<{ key: string; line: string }>(FETCH);
    if (page.length === 0) break;
    yield page.map(({ key, line }) => ({ key, json: line }));
  }
  await tx.query(CLOSE);
}

/** Runs a query that returns the columns of `Total`, with `rows` as a bigint. */
export async function loadTotals(
  on: Queryable,
  statement: Statement,
  values: readonly unknown[],
): Promise<readonly Total[]> {
  const totals = await on.query<Omit<Total, 'rows'> & { readonly rows: bigint }>(statement, values);
  return totals.map((total) => ({ ...total, rows: Number(total.rows) }));
}
