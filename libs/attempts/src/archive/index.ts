/** The archive of a contest service's months (decision 38). */
export type { Total } from './manifest.ts';
export { monthAt, monthOf, monthsBetween } from './month.ts';
export { type ArchivedRow, findArchivedReceipt, type ReceiptVerifier, verifyMonth } from './verify-month.ts';
export { ArchiveRefusedError, type MonthSource, writeMonth } from './write-month.ts';
