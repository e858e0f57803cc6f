/**
 * Expired sessions, expired sign-in links and failures beyond the window decide nothing; deleting
 * them only frees the space. A client that has not signed in for long is no longer known.
 */
import type { Database } from '@laurel/postgres';
import { deleteInBatches } from '@laurel/service';
import { deleteExpiredOperatorSessions } from '../repository/operator-sessions.ts';
import { deleteExpiredSessions } from '../repository/sessions.ts';
import { deleteOldFailures, deleteUnusedClients } from '../repository/sign-in-failures.ts';
import { deleteExpiredLinks } from '../repository/sign-in-links.ts';

const DAY_MS = 86_400_000;
/** How long a client stays known without a sign-in: longer than a holiday. */
const CLIENT_KNOWN_MS = 90 * DAY_MS;

export function createDeleteExpiredSessions(database: Database, failureWindowMs: number) {
  return async function runOnce(now: Date): Promise<number> {
    const oldFailuresEnd = new Date(now.getTime() - failureWindowMs);
    const sessions = await deleteInBatches((limit) => deleteExpiredSessions(database, now, limit));
    const ofOperators = await deleteInBatches((limit) => deleteExpiredOperatorSessions(database, now, limit));
    const links = await deleteInBatches((limit) => deleteExpiredLinks(database, now, limit));
    const failures = await deleteInBatches((limit) => deleteOldFailures(database, oldFailuresEnd, limit));
    const unusedSince = new Date(now.getTime() - CLIENT_KNOWN_MS);
    const clients = await deleteInBatches((limit) => deleteUnusedClients(database, unusedSince, limit));
    return sessions + ofOperators + links + failures + clients;
  };
}
