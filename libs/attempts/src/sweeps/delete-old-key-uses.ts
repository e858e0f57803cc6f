/** Key uses are kept 24 hours. After that they decide nothing (domain/key-use.ts); this only frees the space. */
import type { Database } from '@laurel/postgres';
import { deleteInBatches } from '@laurel/service';
import { KEY_USE_RETENTION_MS } from '../domain/key-use.ts';
import { deleteOldKeyUses } from '../repository/key-uses.ts';

/** Seldom enough that looking for rows to delete costs nothing. */
export const DELETION_INTERVAL_MS = 60_000;

export function createDeleteOldKeyUses(database: Database) {
  return async function runOnce(now: Date): Promise<number> {
    const before = new Date(now.getTime() - KEY_USE_RETENTION_MS);
    return await deleteInBatches((limit) => deleteOldKeyUses(database, before, limit));
  };
}
