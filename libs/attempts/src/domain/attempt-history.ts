/**
 * The stored history of an attempt, in the order of events. The contest service stores the
 * attempt's creation, outcome and end; the wallet stores when money moved. The instant at which an
 * attempt ended without an outcome is not stored, because the refund follows at once.
 */
import { millisecondsBetween } from '@laurel/values/instant';
import type { Cents } from '@laurel/values/money';
import { shownStatus } from './attempt.ts';
import type { PayoutRecord } from './award.ts';
import type { OwnedAttempt } from './owned-attempt.ts';
import { isRoundReason } from './refund-reason.ts';

/** A posted fee. The members about its refund are null while the fee is not refunded. */
export type FeeHistory = {
  readonly feeCents: Cents;
  readonly chargedAt: Date;
  readonly refundedAt: Date | null;
  readonly refundReason: string | null;
};

/** A payout as the wallet stores it. `deniedAt` is null unless the payout was denied. */
export type PayoutHistory = PayoutRecord & {
  readonly amountCents: Cents;
  readonly createdAt: Date;
  readonly deniedAt: Date | null;
};

export type AttemptFactKind =
  | 'created'
  | 'fee_charged'
  | 'settled'
  | 'award_paid'
  | 'award_held'
  | 'award_released'
  | 'award_denied'
  | 'expired'
  | 'voided'
  | 'fee_refunded';

export type AttemptFact = {
  readonly kind: AttemptFactKind;
  /** Null if the time of this fact is not stored. */
  readonly at: Date | null;
  readonly amountCents?: Cents;
  readonly reason?: string;
};

/**
 * Returns the facts of the history. `settledAt`, `fee` and `payout` are null if the attempt has
 * none.
 */
export function historyOf({
  attempt,
  settledAt,
  fee,
  payout,
}: {
  readonly attempt: Pick<OwnedAttempt, 'status' | 'createdAt' | 'closedReason'>;
  readonly settledAt: Date | null;
  readonly fee: FeeHistory | null;
  readonly payout: PayoutHistory | null;
}): readonly AttemptFact[] {
  return [
    { kind: 'created', at: attempt.createdAt },
    ...(fee === null ? [] : [{ kind: 'fee_charged', at: fee.chargedAt, amountCents: fee.feeCents } as const]),
    ...(settledAt === null ? [] : [{ kind: 'settled', at: settledAt } as const]),
    ...(payout === null ? [] : payoutFacts(payout)),
    ...endFactsOf(attempt),
    ...(fee === null || fee.refundedAt === null ? [] : [refundOf(fee, fee.refundedAt)]),
  ];
}

/** The facts about a payout. If the wallet did not pay it at once, it was held first. */
function payoutFacts({ amountCents, createdAt, paidAt, deniedAt }: PayoutHistory): readonly AttemptFact[] {
  if (paidAt !== null && millisecondsBetween(createdAt, paidAt) === 0)
    return [{ kind: 'award_paid', at: paidAt, amountCents }];
  return [
    { kind: 'award_held', at: createdAt, amountCents },
    ...(paidAt === null ? [] : [{ kind: 'award_released', at: paidAt, amountCents } as const]),
    ...(deniedAt === null ? [] : [{ kind: 'award_denied', at: deniedAt, amountCents } as const]),
  ];
}

function endFactsOf({ status, closedReason }: Pick<OwnedAttempt, 'status' | 'closedReason'>): readonly AttemptFact[] {
  const kind = shownStatus(status);
  if (kind === 'voided') return [{ kind, at: null, ...(closedReason === null ? {} : { reason: closedReason }) }];
  if (kind === 'expired') return [{ kind, at: null, ...(isRoundReason(closedReason) ? { reason: closedReason } : {}) }];
  return [];
}

function refundOf({ feeCents, refundReason }: FeeHistory, at: Date): AttemptFact {
  return {
    kind: 'fee_refunded',
    at,
    amountCents: feeCents,
    ...(refundReason === null ? {} : { reason: refundReason }),
  };
}
