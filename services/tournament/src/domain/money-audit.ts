/**
 * The invariants between this service and the wallet, one attempt or payout at a time.
 *
 * The two databases have no common snapshot: the audit reads our row first, then the wallet's. Work
 * in flight must never look like a violation, so each finding states whether that order already
 * proves it:
 *
 * - Proven (`final`): what our row states had to be true in the wallet before we could write the
 *   row, and the wallet only ever adds. An attempt is paid before it is shown; it is refunded
 *   before it is expired or its round is cancelled; a purse is paid before its row is `paid`.
 * - Not proven: the wallet may be ahead, because our row changed after the audit read it. The audit
 *   reads our row again, after the wallet's, and confirms the finding if the same check still
 *   fails.
 */

import type { Finding } from '@laurel/attempts/domain';
import { type AttemptStatus, isVisible } from '@laurel/attempts/domain';
import type { AwardStatus, RoundStatus } from './tournament.ts';

export type MoneyCheck =
  | 'visible_entry_has_its_fee'
  | 'posted_entry_fee_has_its_attempt'
  | 'entry_is_refunded_exactly_when_ended'
  | 'purse_has_its_payout'
  | 'purse_payout_has_its_rank';

export const MONEY_CHECKS: Record<MoneyCheck, string> = {
  visible_entry_has_its_fee:
    'Every visible attempt of a round has exactly its fee posted, by the account that it belongs to.',
  posted_entry_fee_has_its_attempt: 'Every posted entry fee has an attempt of a round that was not refused.',
  entry_is_refunded_exactly_when_ended:
    'An attempt of a round that expired or was voided, or whose round is cancelled, has its fee back; any other has not.',
  purse_has_its_payout:
    'Every payout of a round that is not still being paid is in the wallet, of the same amount, account and status.',
  purse_payout_has_its_rank: 'Every purse that the wallet has paid or holds belongs to a rank of a round.',
};

export type AuditedAttempt = {
  readonly status: AttemptStatus;
  readonly accountId: string;
  readonly feeCents: bigint;
  /** A scored attempt of a cancelled round is refunded and stays `settled`. */
  readonly roundStatus: RoundStatus;
};

export type AuditedFee = { readonly accountId: string; readonly feeCents: bigint; readonly refunded: boolean };

/**
 * The violation, if any, between an attempt and the posted fee of its id. Either may be missing.
 */
export function judgeFee(attempt: AuditedAttempt | null, fee: AuditedFee | null): Finding<MoneyCheck> | null {
  if (attempt === null || attempt.status === 'refused') {
    return fee === null ? null : { check: 'posted_entry_fee_has_its_attempt', final: false };
  }
  if (!isVisible(attempt.status)) return null;
  if (fee === null || fee.feeCents !== attempt.feeCents || fee.accountId !== attempt.accountId) {
    return { check: 'visible_entry_has_its_fee', final: true };
  }
  return judgeRefund(attempt, fee.refunded);
}

function judgeRefund({ status, roundStatus }: AuditedAttempt, isRefunded: boolean): Finding<MoneyCheck> | null {
  const check = 'entry_is_refunded_exactly_when_ended';
  const isOwed = status === 'expired' || status === 'voided' || roundStatus === 'cancelled';
  if (isOwed) return isRefunded ? null : { check, final: true };
  // A fee that was not refunded is correct here. A refunded fee is correct too, while the refund is
  // due or under way.
  if (!isRefunded || status === 'expiring' || status === 'voiding' || roundStatus === 'cancelling') return null;
  // A round that settles is never cancelled later; a round that was read as open may have been
  // cancelled since.
  return { check, final: status === 'settled' && roundStatus !== 'open' };
}

export type AuditedPurse = {
  readonly status: AwardStatus;
  readonly roundId: string;
  readonly accountId: string;
  readonly amountCents: bigint;
};

export type AuditedPayout = {
  readonly status: 'paid' | 'held' | 'denied';
  readonly roundId: string;
  readonly accountId: string;
  readonly amountCents: bigint;
};

/**
 * The violation, if any, between the payout of a rank and the wallet's payout of its award id.
 * Either may be missing.
 */
export function judgePayout(purse: AuditedPurse | null, payout: AuditedPayout | null): Finding<MoneyCheck> | null {
  if (purse === null) return payout === null ? null : { check: 'purse_payout_has_its_rank', final: false };
  if (payout === null) return purse.status === 'paying' ? null : { check: 'purse_has_its_payout', final: true };
  const isSame =
    payout.roundId === purse.roundId &&
    payout.accountId === purse.accountId &&
    payout.amountCents === purse.amountCents;
  if (!isSame) return { check: 'purse_has_its_payout', final: true };
  if (purse.status === 'paid' || purse.status === 'denied') {
    return payout.status === purse.status ? null : { check: 'purse_has_its_payout', final: true };
  }
  return purse.status === 'held' && payout.status !== 'held' ? { check: 'purse_has_its_payout', final: false } : null;
}
