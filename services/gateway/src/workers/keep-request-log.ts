/**
 * Makes the partitions of the request log ahead, and drops those that are older than seven days
 * (docs/contract/portal-api.md, "Requests"). Functions of the database implement both rules.
 */
import type { Database } from '@laurel/postgres';
import { deleteInBatches } from '@laurel/service';
import { REQUEST_COUNTS_KEPT_MS } from '../domain/overview-period.ts';
import { deleteOldRequestCounts, dropRequestPartitions, makeRequestPartitions } from '../repository/requests.ts';

export function createKeepRequestLog(database: Database) {
  return async function runOnce(now: Date): Promise<void> {
    await makeRequestPartitions(database);
    await dropRequestPartitions(database);
    const before = new Date(now.getTime() - REQUEST_COUNTS_KEPT_MS);
    await deleteInBatches((limit) => deleteOldRequestCounts(database, before, limit));
  };
}
