/**
 * Deletes idempotency uses after 24 hours. By then a use decides nothing
 * (domain/idempotency-use.ts), so the deletion only frees space.
 */
import type { Database } from '@laurel/postgres';
import { deleteInBatches } from '@laurel/service';
import { IDEMPOTENCY_USE_RETENTION_MS } from '../domain/idempotency-use.ts';
import { deleteOldIdempotencyUses } from '../repository/idempotency-uses.ts';

/** Rare enough that looking for rows to delete costs nothing. */
export const DELETION_INTERVAL_MS = 60_000;

export function createDeleteOldIdempotencyUses(database: Database) {
  return async function runOnce(now: Date): Promise<number> {
    const before = new Date(now.getTime() - IDEMPOTENCY_USE_RETENTION_MS);
    return await deleteInBatches((limit) => deleteOldIdempotencyUses(database, before, limit));
  };
}
