/** The write of an optimistic reservation: one round trip, whose second statement inserts. */
import { type BatchOptions, type BoundStatement, type Database, isUniqueViolation } from '@laurel/postgres';

/**
 * Takes the locks, then inserts, and returns the ids of the attempts that it wrote. If one of them
 * violates a unique constraint, nothing of the batch is written and no id is returned.
 */
export async function insertAfterLocks(
  database: Database,
  statements: readonly [locks: BoundStatement, insert: BoundStatement, ...after: BoundStatement[]],
  options: Pick<BatchOptions, 'beforeCommit'>,
): Promise<ReadonlySet<string>> {
  try {
    const [, rows] = await database.batch<[unknown, { id: string }]>(statements, options);
    return new Set(rows.map((row) => row.id));
  } catch (error) {
    if (isUniqueViolation(error)) return new Set();
    throw error;
  }
}
