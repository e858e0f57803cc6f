/** A rate window decides nothing once its minute is over; deleting it only frees the space. */
import type { Database } from '@laurel/postgres';
import { deleteInBatches } from '@laurel/service';
import { deleteOldWindows } from '../repository/rate-windows.ts';

/**
 * How long a window is kept. Operators and developers see when a key was last used, and
 * `recordKeyUse` reads this time from the window.
 */
const KEPT_MS = 3_600_000;
export function createDeleteOldWindows(database: Database) {
  return async function runOnce(now: Date): Promise<number> {
    const since = new Date(now.getTime() - KEPT_MS);
    return await deleteInBatches((limit) => deleteOldWindows(database, since, limit));
  };
}
