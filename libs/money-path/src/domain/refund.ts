/** Why a fee goes back. The wallet keeps it with the refund. */
import type { OwnedAttempt } from './owned-attempt.ts';

export type RefundReason = StatusReason | RoundReason;

/** The reasons that the status of the attempt tells by itself. */
export type StatusReason = 'expired' | 'voided';

/** How its round ended the attempt. Such an attempt expires, and keeps this in `closedReason`. */
export type RoundReason = 'round_closed' | 'round_cancelled';

/** Why the fee of an attempt that is `expiring` or `voiding` goes back. */
export function refundReasonOf({ status, closedReason }: Pick<OwnedAttempt, 'status' | 'closedReason'>): RefundReason {
  if (status === 'voiding') return 'voided';
  return closedReason === 'round_closed' || closedReason === 'round_cancelled' ? closedReason : 'expired';
}
