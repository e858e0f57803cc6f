/**
 * Makes the partitions of the request log ahead, and drops those that are older than seven days
 * (docs/contract/portal-api.md, "Requests"). Functions of the database implement both rules.
 */
import type { Database } from '@laurel/postgres';
import { deleteInBatches } from '@laurel/service';
import { deleteOldRequestCounts, dropRequestPartitions, makeRequestPartitions } from '../repository/requests.ts';

/**
 * How long counts are kept: one day more than the period of the longest overview, because its first
 * bucket may begin before that period.
 */
const COUNTS_KEPT_MS = 8 * 24 * 3_600_000;

export function createKeepRequestLog(database: Database) {
  return async function runOnce(now: Date): Promise<void> {
    await makeRequestPartitions(database);
    await dropRequestPartitions(database);
    const before = new Date(now.getTime() - COUNTS_KEPT_MS);
    await deleteInBatches((limit) => deleteOldRequestCounts(database, before, limit));
  };
}
