/**
 * The invariants that span this service and the wallet, one attempt or award at a time.
 *
 * The two databases have no common snapshot: our row is read first, the wallet's after it. Work in
 * flight must never look like a violation, so each finding states whether that order already proves
 * it:
 *
 * - Proven (`final`): the state in our row had to be true in the wallet before our row could be
 *   written, and the wallet only ever adds. An attempt is paid before it is shown, refunded before
 *   it is expired, and an award is paid before its row is `paid`.
 * - Not proven: the wallet may be ahead, because our row moved on after it was read. Our row is
 *   read again, after the wallet's, and the finding is confirmed if the same check still fails.
 */

import type { AwardStatus, Finding } from '@laurel/attempts/domain';
import { type AttemptStatus, isVisible } from '@laurel/attempts/domain';

export type MoneyCheck =
  | 'visible_attempt_has_its_fee'
  | 'posted_fee_has_its_attempt'
  | 'refunded_exactly_when_ended'
  | 'award_has_its_payout'
  | 'payout_has_its_award';

export const MONEY_CHECKS: Record<MoneyCheck, string> = {
  visible_attempt_has_its_fee:
    'Every visible attempt with a fee has exactly that fee posted, by the account that it belongs to.',
  posted_fee_has_its_attempt: 'Every posted fee has an attempt that was not refused.',
  refunded_exactly_when_ended: 'An expired or voided attempt has its fee back; an open or settled one has not.',
  award_has_its_payout:
    'Every award that is not still being paid has its payout in the wallet, of the same amount, account and status.',
  payout_has_its_award: 'Every payout of a challenge has its award.',
};

export type AuditedAttempt = {
  readonly status: AttemptStatus;
  readonly accountId: string | null;
  readonly feeCents: bigint;
};

export type AuditedFee = { readonly accountId: string; readonly feeCents: bigint; readonly refunded: boolean };

/** The violation between an attempt and the posted fee of its id, if any; either may be missing. */
export function judgeFee(attempt: AuditedAttempt | null, fee: AuditedFee | null): Finding<MoneyCheck> | null {
  if (attempt === null || attempt.status === 'refused' || attempt.feeCents === 0n) {
    return fee === null ? null : { check: 'posted_fee_has_its_attempt', final: false };
  }
  if (!isVisible(attempt.status)) return null;
  if (fee === null || fee.feeCents !== attempt.feeCents || fee.accountId !== attempt.accountId) {
    return { check: 'visible_attempt_has_its_fee', final: true };
  }
  const hasEnded = attempt.status === 'expired' || attempt.status === 'voided';
  if (hasEnded && !fee.refunded) return { check: 'refunded_exactly_when_ended', final: true };
  if (attempt.status === 'settled' && fee.refunded) return { check: 'refunded_exactly_when_ended', final: true };
  if (attempt.status === 'open' && fee.refunded) return { check: 'refunded_exactly_when_ended', final: false };
  return null;
}

export type AuditedAward = {
  readonly status: AwardStatus;
  readonly attemptId: string;
  readonly accountId: string;
  readonly amountCents: bigint;
};

export type AuditedPayout = {
  readonly status: 'paid' | 'held' | 'denied';
  readonly attemptId: string;
  readonly accountId: string;
  readonly amountCents: bigint;
};

/** The violation between an award and the payout of its id, if any; either may be missing. */
export function judgePayout(award: AuditedAward | null, payout: AuditedPayout | null): Finding<MoneyCheck> | null {
  if (award === null) return payout === null ? null : { check: 'payout_has_its_award', final: false };
  if (payout === null)
    return award.status === 'paying' || award.status === 'holding'
      ? null
      : { check: 'award_has_its_payout', final: true };
  const isSame =
    payout.attemptId === award.attemptId &&
    payout.accountId === award.accountId &&
    payout.amountCents === award.amountCents;
  if (!isSame) return { check: 'award_has_its_payout', final: true };
  if (award.status === 'paid' || award.status === 'denied') {
    return payout.status === award.status ? null : { check: 'award_has_its_payout', final: true };
  }
  return award.status === 'held' && payout.status !== 'held' ? { check: 'award_has_its_payout', final: false } : null;
}
