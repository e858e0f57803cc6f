/** The life of one paid attempt, alike for challenges and rounds. */
export {
  type AttemptStatus,
  afterRefund,
  CAP_COUNTED,
  canMove,
  canSettle,
  isVisible,
  type ShownStatus,
  shownStatus,
} from './attempt.ts';
export { DEFAULT_ATTEMPT_TTL_SECONDS, deadlineOf, isDue } from './attempt-expiry.ts';
export { MAX_EVIDENCE_BYTES } from './evidence.ts';
export {
  isRefundReason,
  isRoundReason,
  type RefundReason,
  type RoundReason,
  type StatusReason,
} from './refund-reason.ts';
