/**
 * Idempotency records are kept for 24 hours (docs/contract/partner-api.md, "Idempotency"). After
 * that they decide nothing; deleting them only frees the space.
 */
import { IDEMPOTENCY_USE_RETENTION_MS } from '@laurel/attempts/domain';
import type { Database } from '@laurel/postgres';
import { deleteInBatches } from '@laurel/service';
import { deleteOldRecords } from '../repository/idempotency-records.ts';

export function createIdempotencyRecordCleanup(database: Database) {
  return async function runOnce(now: Date): Promise<number> {
    const before = new Date(now.getTime() - IDEMPOTENCY_USE_RETENTION_MS);
    return await deleteInBatches((limit) => deleteOldRecords(database, before, limit));
  };
}
