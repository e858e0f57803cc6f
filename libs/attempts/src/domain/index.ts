/** The types and the pure rules of attempts: what a service's own domain may import. */

export { type Environment, isSameTenant, MAX_PLAYER_REF_CHARACTERS, type Tenant } from '@laurel/values/tenant';
export { knownArchived, mayBeArchived } from './archived-attempt.ts';
export {
  type ArchivedRow,
  type ArchivedRowsOf,
  bytesOf,
  expectEnd,
  type RowWalk,
  type SignatureVerifier,
  type Total,
  Totals,
  verifyOutcome,
  walkRows,
} from './archived-rows.ts';
export {
  type AttemptStatus,
  afterRefund,
  CAP_COUNTED,
  canChangeStatus,
  canSettle,
  isVisible,
  type ShownStatus,
  shownStatus,
} from './attempt.ts';
export { DEFAULT_ATTEMPT_TTL_SECONDS, deadlineOf, isDue } from './attempt-expiry.ts';
export type {
  AwardStatus,
  OwedAward,
  PayableAward,
  PayoutOf,
  PayoutRecord,
  PrizeOf,
} from './award.ts';
export { type AwardReview, isReviewReason, MAX_REVIEW_REASON_CHARACTERS, parseReview } from './award-review.ts';
export type { Finding } from './finding.ts';
export { IDEMPOTENCY_USE_RETENTION_MS, type IdempotencyUse, type RecordedIdempotencyUse } from './idempotency-use.ts';
export { oneForEachPlayer } from './one-for-each-player.ts';
export type { RecordedOutcome, ScoreReport } from './outcome.ts';
export { ABANDONED_CODE, feeOf, type OwnedAttempt } from './owned-attempt.ts';
export type { NamedAccount, Player, Requirement } from './player.ts';
export {
  isRefundReason,
  isRoundReason,
  type RefundReason,
  type RoundReason,
  type StatusReason,
} from './refund-reason.ts';
export { MAX_EVIDENCE_BYTES, MAX_METADATA_BYTES } from './sent-objects.ts';
export { checkVoidReason, MAX_VOID_REASON_CHARACTERS } from './void-reason.ts';
