/**
 * What is alike for attempts of challenges and of rounds. Each room answers one question:
 *
 * - domain/      which states an attempt, its fee and its prize have, and which may follow (pure; `@laurel/attempts/domain`)
 * - steps/       what one call does, from the creation and the fee to the outcome, the prize, the refund and the reads
 * - sweeps/      what finishes or checks what no call waits for: pending fees, expired attempts, refunds, the audit
 * - repository/  the tables that both services have (repository/attempts.ts describes them)
 * - wallet.ts    the wallet, as both call it
 * - start-owner.ts  what both services start beside what every service starts
 * - client/      both services, as the gateway and the integration service call them (`@laurel/attempts/client`)
 *
 * A service supplies its rules, its reservation, its outcomes, its table of awards, and its outbox with the events of refunds and
 * prizes.
 */
export { type AccountCache, createAccountCache } from './account-cache.ts';
export type { Contest, FoundAttempt, RecordedOutcome } from './contest.ts';
export { attemptHandlers } from './handlers/index.ts';
export { presentOutcome } from './handlers/present.ts';
export { previousRpcs } from './handlers/previous-rpcs.ts';
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
  MAX_REFUNDS_WALKED,
  type RefundDue,
  type RefundEvents,
  type RefundQueue,
  refundsByStatus,
} from './repository/refunds-due.ts';
export { EXTENSION_INTERVAL_MS, extendSigningKey, putSigningKey } from './repository/signing-keys.ts';
export { attemptStages } from './repository/stages.ts';
export { isAfterLowWatermark } from './repository/sweeps.ts';
export { attemptOwnerSettings } from './settings.ts';
export { type OwnerFoundation, startOwner } from './start-owner.ts';
export { answerItems, answerReports } from './steps/answer-items.ts';
export { decideAndCommit, type KeyedAttempt } from './steps/commit-creations.ts';
export { type AttemptPlan, type CreatedAttempt, createAttempt, type Reservation } from './steps/create-attempt.ts';
export { type CandidateReads, createCandidateReads, findOpen } from './steps/find-open-attempts.ts';
export { type AttemptOpener, createAttemptOpener } from './steps/open-attempts.ts';
export { parseCreation, parseReport } from './steps/parse-items.ts';
export { parseKeyUse } from './steps/parse-key-use.ts';
export { type AwardPayer, type AwardTable, createAwardPayer } from './steps/pay-awards.ts';
export { type ReportDeps, type ReportPlan, reportOutcome, type SettlementOf } from './steps/report-outcome.ts';
export {
  type AcceptedCreation,
  createReservations,
  type NamedCreation,
  type OptimisticInsertOptions,
} from './steps/reserve-attempts.ts';
export { decideUnlessRefused, keyIdsOf, resolveKeyUses, resolveReports } from './steps/resolve-key-uses.ts';
export { auditMoney } from './sweeps/audit-money.ts';
export { createDeleteOldKeyUses, DELETION_INTERVAL_MS } from './sweeps/delete-old-key-uses.ts';
export { type AttemptExpirer, createAttemptExpirer } from './sweeps/expire-attempts.ts';
export { createPendingResolver, type PendingResolver } from './sweeps/resolve-pending.ts';
export { connectWallet, type Wallet } from './wallet.ts';
