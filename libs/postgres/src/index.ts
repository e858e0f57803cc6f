export { type Check, type CheckResult, runChecks } from './audit.ts';
export {
  type BatchOptions,
  type BoundStatement,
  createDatabase,
  type Database,
  type DatabaseOptions,
  type Queryable,
  type RowsOf,
  type Statement,
  type Transaction,
} from './database.ts';
export { ConnectionFailedError, isCheckViolation, isConnectionFailure, isUniqueViolation } from './errors.ts';
export { type MigrateOptions, migrate } from './migrate.ts';
