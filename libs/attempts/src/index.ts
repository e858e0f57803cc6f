/**
 * The attempt, as a library of the contest services. Each file or folder answers one question:
 *
 * - contest.ts         what a kind of contest supplies: its rules, commits and reads
 * - start-attempts.ts  what both services start over it, and start-contest-service.ts before it
 * - domain/            the states of an attempt, its fee and its prize, and the moves between them
 *   (pure; `@laurel/attempts/domain`)
 * - handlers/          the rpcs of AttemptService
 * - steps/             what one call does: creation, fee, outcome, prize, refund, reads
 * - sweeps/            what finishes or checks work that no call waits for: pending fees, expired
 *   attempts, refunds, the audit
 * - repository/        the tables that both services have (repository/attempts.ts describes them)
 * - wallet.ts          the wallet, as both call it
 * - client/            both services, as the gateway and the integration service call them
 *   (`@laurel/attempts/client`)
 */
export type { AccountCache } from './account-cache.ts';
export type { Contest, NamedContest, RecordedSettlement, Report, Settlement } from './contest.ts';
export { ATTEMPT_CALLERS, attemptHandlers } from './handlers/index.ts';
export {
  ARCHIVED_SUM,
  ATTEMPT_IS_KEPT_ONCE,
  archivedMonthKeepsItsTotals,
  sumsOfArchivedSql,
} from './repository/archive-checks.ts';
export { countsUnderCapSql } from './repository/attempt-cap.ts';
export { attemptWindowSql, ROWS_OF_WINDOW } from './repository/attempt-windows.ts';
export { attemptsOfAccountSql, ROWS_OF_ACCOUNT_WINDOW } from './repository/attempts-of-account.ts';
export { ATTEMPTS, attemptWalks, OUTCOMES, REFUNDS_DUE } from './repository/audit-walks.ts';
export {
  deleteIdempotencyUses,
  idempotencyUseColumns,
  insertIdempotencyUses,
  insertingIdempotencyUses,
  lockIdempotencyUses,
} from './repository/idempotency-uses.ts';
export {
  type CandidateRow,
  candidatesByPlayer,
  MAX_OPEN_CANDIDATES,
  type OpenCandidate,
  type PlayerOfContest,
} from './repository/open-candidates.ts';
export { insertAfterLocks } from './repository/optimistic-insert.ts';
export { RECEIPT_HAS_KEY, SETTLED_HAS_OUTCOME } from './repository/outcome-checks.ts';
export {
  type DueRow,
  type FinishedRefund,
  nextRefundsSql,
  type RefundDue,
  type RefundEvents,
  type RefundQueue,
  refundsByStatus,
} from './repository/refunds-due.ts';
export { EXTENSION_INTERVAL_MS, extendSigningKey, putSigningKey } from './repository/signing-keys.ts';
export { attemptStages } from './repository/stages.ts';
export { isAfterLowWatermarkSql } from './repository/sweeps.ts';
export { contestServiceSettings } from './settings.ts';
export { type StartedAttempts, startAttempts } from './start-attempts.ts';
export { startContestService } from './start-contest-service.ts';
export { createCommitBatches } from './steps/batch-commits.ts';
export { commitCreations, type KeyedAttempt } from './steps/commit-creations.ts';
export { type AttemptOpener, createAttemptOpener } from './steps/open-attempts.ts';
export { parseIdempotencyUse } from './steps/parse-idempotency-use.ts';
export type { AwardPayer, AwardTable } from './steps/pay-awards.ts';
export { createReservationCoalescer } from './steps/reserve-attempts.ts';
export { resolveCreations } from './steps/resolve-creations.ts';
export {
  decideUnlessRefused,
  idempotencyRecordIdsOf,
  resolveIdempotencyUses,
  resolveReports,
} from './steps/resolve-idempotency-uses.ts';
export { type AuditedMoney, auditMoney, moneyWalks } from './sweeps/audit-money.ts';
export type { AttemptExpirer } from './sweeps/expire-attempts.ts';
export { createPendingResolver, type PendingResolver } from './sweeps/resolve-pending.ts';
export { connectWallet, type Wallet } from './wallet.ts';
