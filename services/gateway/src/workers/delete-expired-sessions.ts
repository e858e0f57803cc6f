/**
 * Expired sessions and failures beyond the window decide nothing; this only
 * frees the space. A client without a sign-in for long stops being known.
 */
import type { Database } from '@laurel/postgres';
import { deleteExpiredSessions } from '../repository/sessions.ts';
import { deleteOldFailures, deleteUnusedClients } from '../repository/sign-in-failures.ts';

const DAY_MS = 86_400_000;
/** Longer than a holiday. */
const CLIENT_KNOWN_MS = 90 * DAY_MS;
/** Small enough that a statement holds its locks for milliseconds. */
const ROWS_A_STATEMENT = 2_000;

export function createDeleteExpiredSessions(database: Database, failureWindowMs: number) {
  return async function runOnce(now: Date): Promise<number> {
    const oldFailuresEnd = new Date(now.getTime() - failureWindowMs);
    const sessions = await deleteAll((limit) => deleteExpiredSessions(database, now, limit));
    const failures = await deleteAll((limit) => deleteOldFailures(database, oldFailuresEnd, limit));
    const unusedSince = new Date(now.getTime() - CLIENT_KNOWN_MS);
    const clients = await deleteAll((limit) => deleteUnusedClients(database, unusedSince, limit));
    return sessions + failures + clients;
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
