export { type Check, type CheckResult, runChecks } from './audit.ts';
export {
  type BatchOptions,
  type BoundStatement,
  createDatabase,
  type Database,
  type DatabaseOptions,
  type RowsOf,
} from './database.ts';
export { ConnectionFailedError, isConnectionFailure, isUniqueViolation } from './errors.ts';
export type { Statement } from './pipeline.ts';
export type { Queryable, Transaction } from './transaction.ts';
