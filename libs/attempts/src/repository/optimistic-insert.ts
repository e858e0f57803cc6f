/** The write of an optimistic reservation: one round trip, whose second statement inserts. */
import { type BatchOptions, type BoundStatement, type Database, isUniqueViolation } from '@laurel/postgres';

/**
 * Takes the locks, then inserts the attempts, and returns the ids of the attempts that it inserted.
 * If an attempt violates a unique constraint, it inserts no attempt of the batch and returns no id.
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
