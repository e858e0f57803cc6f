/** A rate window decides nothing once its minute is over; this only frees the space. */
import type { Database } from '@laurel/postgres';
import { deleteOldWindows } from '../repository/rate-windows.ts';

/** Until then operators and developers can see when a key was last used: `recordKeyUse` reads it here. */
const KEPT_MS = 3_600_000;
/** Small enough that a statement holds its locks for milliseconds. */
const ROWS_A_STATEMENT = 2_000;

export function createDeleteOldWindows(database: Database) {
  return async function runOnce(now: Date): Promise<number> {
    const since = new Date(now.getTime() - KEPT_MS);
    let total = 0;
    for (;;) {
      const deleted = await deleteOldWindows(database, since, ROWS_A_STATEMENT);
      total += deleted;
      if (deleted < ROWS_A_STATEMENT) return total;
    }
  };
}
