/**
 * Deletes rows that decide nothing any more: the log is kept for some days. The pairs of reports
 * and attempts, and the listened samples, are never deleted, because a captured body stays valid as
 * long as its secret.
 */
import type { Database } from '@laurel/postgres';
import { deleteInBatches } from '@laurel/service';
import { deleteOldLogEntries } from '../repository/log-entries.ts';

/** The days for which the log is kept, unless the configuration sets another number. */
export const DEFAULT_LOG_RETENTION_DAYS = 7;
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
    await deleteInBatches((limit) => deleteOldLogEntries(database, before, limit));
  };
}
