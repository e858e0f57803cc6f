export { type Check, type CheckResult, type EnvironmentsOfIds, findEnvironments, runChecks } from './audit.ts';
export {
  distinctSql,
  ofRows,
  pageSql,
  type Rows,
  rowsOf,
  sharedRows,
  weighedPageSql,
} from './audit-rows.ts';
export type { ComparedSlice, ComparedWalk, SlicedCheck, Walk } from './audit-walk.ts';
export { createContinuousAudit } from './continuous-audit.ts';
export {
  type BatchOptions,
  type BoundStatement,
  createDatabase,
  type Database,
  type DatabaseOptions,
  type RowsOf,
  WHOLE_TABLES,
} from './database.ts';
export { type DatabaseClock, startDatabaseClock } from './database-clock.ts';
export {
  ConnectionFailedError,
  isConnectionFailure,
  isForeignKeyViolation,
  isLockTimeout,
  isRestrictViolation,
  isUniqueViolation,
} from './errors.ts';
export { verifyRunningRole } from './running-role.ts';
export { createSlicedAudit, inSnapshotSql, type SlicedAudit, type SliceLimits } from './sliced-audit.ts';
export {
  createStageSampler,
  EACH_ENVIRONMENT,
  MAX_COUNTED_ITEMS,
  MAX_WALKED_ROWS,
} from './stage-sampler.ts';
export type { Statement } from './step.ts';
export type { Queryable, Transaction } from './transaction.ts';
export { verifyAtStart } from './verify-at-start.ts';
