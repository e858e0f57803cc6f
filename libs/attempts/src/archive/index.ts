/** The archive of a contest service's months (decision 38). */
export type { Total } from '../domain/archived-rows.ts';
export { loadTotals } from '../repository/archive.ts';
export { monthDeletionOf } from '../repository/month-deletion.ts';
export { type DeletionRun, deleteMonth, type MonthDeletion } from './delete-month.ts';
export { type Month, monthOf } from './month.ts';
export { runArchive } from './run-archive.ts';
export { type ArchivedTable, rowsIn, verifyMonth } from './verify-month.ts';
export { type DeletableMonths, type MonthSource, writeMonth } from './write-month.ts';
