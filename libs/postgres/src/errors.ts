import pg from 'pg';

/** The connection could not be opened, or broke. A write may or may not have happened. */
export class ConnectionFailedError extends Error {
  override readonly name = 'ConnectionFailedError';
}

const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const RESTRICT_VIOLATION = '23001';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * SQLSTATEs with which the server ends or refuses a session: class 08 (connection), and some of
 * classes 53 and 57.
 */
const CONNECTION_STATES = /^(08...|53300|57P0[1-5])$/;

/** Whether the row is a duplicate, by any unique constraint or by the named one. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code !== UNIQUE_VIOLATION) return false;
  return constraint === undefined || error.constraint === constraint;
}

/** Whether the row references another row that does not exist. */
export function isForeignKeyViolation(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION && error.constraint === constraint;
}

/** Whether a trigger or a function of the database refused the change by a rule. */
export function isRestrictViolation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === RESTRICT_VIOLATION;
}

/** Whether the statement waited for a lock for longer than it may. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
}

/**
 * Whether the database was unreachable. The statement is not the cause, so running its rows one by
 * one would not help.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof ConnectionFailedError) return true;
  return error instanceof pg.DatabaseError && error.code !== undefined && CONNECTION_STATES.test(error.code);
}
