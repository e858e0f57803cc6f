/**
 * The attempt lifecycle of every service that owns attempts: the fee from the reservation to the wallet's decision, the roll-forward after
 * a crash, refunds, and prizes. An owner supplies its rules, its reservation, its outcomes, its table of awards, and its outbox with the
 * events of refunds and prizes; the tables that both share are described in repository/attempts.ts.
 */
export { type AccountCache, createAccountCache } from './account-cache.ts';
export { answerItems, answerReports } from './answer-items.ts';
export { auditMoney } from './audit-money.ts';
export { decideAndCommit, type KeyedAttempt } from './commit-creations.ts';
export { type AttemptPlan, type CreatedAttempt, createAttempt, type Reservation } from './create-attempt.ts';
export { currentAttempt, currentAward } from './current-state.ts';
export { createDeleteOldKeyUses, DELETION_INTERVAL_MS } from './delete-old-key-uses.ts';
export { describeSigningKeys } from './describe-signing-keys.ts';
export { checkVoidReason, expireNow, voidNow } from './end-attempt.ts';
export { type AttemptExpirer, createAttemptExpirer } from './expire-attempts.ts';
export { type CandidateReads, createCandidateReads, findOpen } from './find-open-attempts.ts';
export { type AttemptOpener, createAttemptOpener } from './open-attempts.ts';
export { parseCreation, parseReport } from './parse-items.ts';
export { parseKeyUse } from './parse-key-use.ts';
export { type AwardPayer, type AwardTable, createAwardPayer } from './pay-awards.ts';
export { type ReportDeps, type ReportPlan, reportOutcome, type SettlementOf } from './report-outcome.ts';
export { countsUnderCap } from './repository/attempt-cap.ts';
export type { WhenOpened } from './repository/attempts.ts';
export { deleteKeyUses, insertingKeyUses, insertKeyUses, keyUseColumns, lockKeyUses } from './repository/key-uses.ts';
export {
  type CandidateRow,
  candidatesByPlayer,
  MAX_OPEN_CANDIDATES,
  type OpenCandidate,
  type PlayerOfContest,
} from './repository/open-candidates.ts';
export {
  type FinishedRefund,
  type RefundDue,
  type RefundEvents,
  type RefundQueue,
  refundsByStatus,
} from './repository/refunds-due.ts';
export { EXTENSION_INTERVAL_MS, extendSigningKey, putSigningKey } from './repository/signing-keys.ts';
export { attemptStages } from './repository/stages.ts';
export { isAfterLowWatermark } from './repository/sweeps.ts';
export {
  type AcceptedCreation,
  createReservations,
  type NamedCreation,
  type OptimisticInsertOptions,
} from './reserve-attempts.ts';
export { decideUnlessRefused, keyIdsOf, resolveKeyUses, resolveReports } from './resolve-key-uses.ts';
export { createPendingResolver, type PendingResolver } from './resolve-pending.ts';
export { type ReviewDeps, reviewAward } from './review-award.ts';
export { type RollForwardDeps, readAgain, rollForward } from './roll-forward.ts';
export { attemptOwnerSettings } from './settings.ts';
export { connectWallet, type Wallet } from './wallet.ts';
