/** The reason of a refund, from the attempt whose fee is returned. */

import type { OwnedAttempt } from './owned-attempt.ts';
import { isRoundReason, type RefundReason } from './refund-reason.ts';

/**
 * For an attempt that is `expiring` or `voiding`. If its round ended it, its `closedReason` is the
 * reason.
 */
export function refundReasonOf({ status, closedReason }: Pick<OwnedAttempt, 'status' | 'closedReason'>): RefundReason {
  if (status === 'voiding') return 'voided';
  return isRoundReason(closedReason) ? closedReason : 'expired';
}
