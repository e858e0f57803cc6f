/** How often a service deletes rows that it keeps for days. */
export const DELETE_INTERVAL_MS = 3_600_000;

/** Small enough that a statement holds its locks for milliseconds. */
const ROWS_A_STATEMENT = 1_000;

/**
 * Deletes rows on which no decision depends any more, a batch at a time, until a batch is not full.
 * `deleteSome` deletes at most `limit` rows and returns their number. Returns the total.
 */
export async function deleteInBatches(deleteSome: (limit: number) => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await deleteSome(ROWS_A_STATEMENT);
    total += deleted;
    if (deleted < ROWS_A_STATEMENT) return total;
  }
}
