/**
 * Idempotency records are kept 24 hours (docs/contract/partner-api.md,
 * "Idempotency"). After that they decide nothing; this only frees the space.
 */
import { KEY_USE_RETENTION_MS } from '@laurel/attempts/domain';
import type { Database } from '@laurel/postgres';
import { deleteOldRecords } from '../repository/idempotency-records.ts';

/** Small enough that a statement holds its locks for milliseconds. */
const ROWS_A_STATEMENT = 2_000;

export function createDeleteOldRecords(database: Database) {
  return async function runOnce(now: Date): Promise<number> {
    const before = new Date(now.getTime() - KEY_USE_RETENTION_MS);
    let total = 0;
    for (;;) {
      const deleted = await deleteOldRecords(database, before, ROWS_A_STATEMENT);
      total += deleted;
      if (deleted < ROWS_A_STATEMENT) return total;
    }
  };
}
