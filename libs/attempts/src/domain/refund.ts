/** The reason of a refund, from the attempt whose fee is returned. */

import type { OwnedAttempt } from './owned-attempt.ts';
import { isRoundReason, type RefundReason } from './refund-reason.ts';

/** Of an attempt that is `expiring` or `voiding`. One that its round ended has that as its `closedReason`. */
export function refundReasonOf({ status, closedReason }: Pick<OwnedAttempt, 'status' | 'closedReason'>): RefundReason {
  if (status === 'voiding') return 'voided';
  return isRoundReason(closedReason) ? closedReason : 'expired';
}
