/** Why a fee is returned. The wallet stores it with the refund. */
import type { OwnedAttempt } from './owned-attempt.ts';

export type RefundReason = StatusReason | RoundReason;

/** The reasons that follow from the attempt's status alone. */
export type StatusReason = 'expired' | 'voided';

/** How its round ended the attempt. Such an attempt expires, and has this as its `closedReason`. */
export type RoundReason = 'round_closed' | 'round_cancelled';

/** Why the fee of an attempt that is `expiring` or `voiding` is returned. */
export function refundReasonOf({ status, closedReason }: Pick<OwnedAttempt, 'status' | 'closedReason'>): RefundReason {
  if (status === 'voiding') return 'voided';
  return closedReason === 'round_closed' || closedReason === 'round_cancelled' ? closedReason : 'expired';
}
