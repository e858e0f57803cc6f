/** Sessions that are over and failures that count no longer decide nothing; this only frees the space. */
import type { Database } from '@laurel/postgres';
import { deleteExpiredSessions } from '../repository/sessions.ts';
import { deleteOldFailures } from '../repository/sign-in-failures.ts';

/** Small enough that a statement holds its locks for milliseconds. */
const ROWS_A_STATEMENT = 2_000;

export function createDeleteExpiredSessions(database: Database, failureWindowMs: number) {
  return async function runOnce(now: Date): Promise<number> {
    const oldFailuresEnd = new Date(now.getTime() - failureWindowMs);
    const sessions = await deleteAll((limit) => deleteExpiredSessions(database, now, limit));
    const failures = await deleteAll((limit) => deleteOldFailures(database, oldFailuresEnd, limit));
    return sessions + failures;
  };
}

async function deleteAll(deleteSome: (limit: number) => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const deleted = await deleteSome(ROWS_A_STATEMENT);
    total += deleted;
    if (deleted < ROWS_A_STATEMENT) return total;
  }
}
