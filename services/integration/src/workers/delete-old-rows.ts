/**
 * Deletes rows that decide nothing any more: the log is kept for some days. The pairs of reports and attempts, and the listened samples, are
 * never deleted: a captured body stays valid as long as its secret.
 */
import type { Database } from '@laurel/postgres';
import { deleteOldLogEntries } from '../repository/log-entries.ts';

/** Small enough that a statement holds its locks for milliseconds. */
const ROWS_A_STATEMENT = 1_000;
const DAY_MS = 86_400_000;

export function createDeleteOldRows({
  database,
  logRetentionDays,
}: {
  database: Database;
  logRetentionDays: number;
}): (now: Date) => Promise<void> {
  return async function runOnce(now) {
    const before = new Date(now.getTime() - logRetentionDays * DAY_MS);
    while ((await deleteOldLogEntries(database, before, ROWS_A_STATEMENT)) === ROWS_A_STATEMENT);
  };
}
