/** The reason of a refund, derived from the attempt whose fee is refunded. */

import type { OwnedAttempt } from './owned-attempt.ts';
import { isRoundReason, type RefundReason } from './refund-reason.ts';

/**
 * Returns the reason for an attempt that is `expiring` or `voiding`. If the end of a round ended
 * the attempt, the reason is the attempt's `closedReason`.
 */
export function refundReasonOf({ status, closedReason }: Pick<OwnedAttempt, 'status' | 'closedReason'>): RefundReason {
  if (status === 'voiding') return 'voided';
  return isRoundReason(closedReason) ? closedReason : 'expired';
}
