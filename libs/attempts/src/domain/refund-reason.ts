/**
 * Why the fee of an attempt is refunded. The contest service queues the refund with the reason, and
 * the wallet stores the reason with the refund.
 */

const STATUS_REASONS = ['expired', 'voided'] as const;
const ROUND_REASONS = ['round_closed', 'round_cancelled'] as const;

/** The reasons that follow from the attempt's status alone. */
export type StatusReason = (typeof STATUS_REASONS)[number];

/** How a round ended the attempt. The attempt then expires. */
export type RoundReason = (typeof ROUND_REASONS)[number];

export type RefundReason = StatusReason | RoundReason;

export function isRoundReason(text: string | null): text is RoundReason {
  return ROUND_REASONS.some((reason) => reason === text);
}

export function isRefundReason(text: string): text is RefundReason {
  return isRoundReason(text) || STATUS_REASONS.some((reason) => reason === text);
}
