/** Key uses are kept 24 hours. After that they decide nothing (domain/key-use.ts); this only frees the space. */
import type { Database } from '@laurel/postgres';
import { KEY_USE_RETENTION_MS } from '../domain/key-use.ts';
import { deleteOldKeyUses } from '../repository/key-uses.ts';

/** Seldom enough that looking for rows to delete costs nothing. */
export const DELETION_INTERVAL_MS = 60_000;

/** Small enough that a statement holds its locks for milliseconds. */
const ROWS_A_STATEMENT = 2_000;

export function createDeleteOldKeyUses(database: Database) {
  return async function runOnce(now: Date): Promise<number> {
    const before = new Date(now.getTime() - KEY_USE_RETENTION_MS);
    let total = 0;
    for (;;) {
      const deleted = await deleteOldKeyUses(database, before, ROWS_A_STATEMENT);
      total += deleted;
      if (deleted < ROWS_A_STATEMENT) return total;
    }
  };
}
