/**
 * The decision on a batch of refunds. A fee is returned at most once, in full, to the account that
 * paid it, even if the ref names another account by then. A fee that was never posted, or that
 * belongs to another service's attempt, is not refunded, and nothing is written.
 */
import type { RefundReason } from '@laurel/attempts/domain';
import { type ContestServiceName, contestServiceOf, refundTransferId } from '@laurel/values/ids';
import type { Cents } from '@laurel/values/money';
import { type LedgerChanges, openBook, type PlayerLedger } from './ledger.ts';

export type Refund = {
  readonly feeTransferId: string;
  readonly reason: RefundReason;
  /** The contest service whose attempts may be refunded; null for all. */
  readonly owner: ContestServiceName | null;
};

/** A posted fee, and the instant of its refund; the instant is null if the fee was not refunded. */
export type PaidFee = {
  readonly ledgerId: string;
  readonly attemptId: string;
  readonly amountCents: Cents;
  readonly refundedAt: Date | null;
};

export type RefundResult = { readonly refundedAt: Date | null };

/**
 * Returns one result per refund, in order; null instead of an instant if the service has no such
 * fee.
 */
export function decideRefunds(batch: {
  readonly refunds: readonly Refund[];
  /** One fee for each refund; null if no such fee is posted. */
  readonly fees: readonly (PaidFee | null)[];
  readonly locked: readonly PlayerLedger[];
  readonly now: Date;
}): { readonly results: readonly RefundResult[]; readonly changes: LedgerChanges } {
  const book = openBook(batch.locked);
  const decided = new Map<string, Date>();

  const results = batch.refunds.map(({ feeTransferId, reason, owner }, index): RefundResult => {
    const fee = batch.fees[index];
    if (fee === undefined) throw new Error(`the fee ${feeTransferId} was not looked up`);
    if (fee === null || (owner !== null && contestServiceOf(fee.attemptId) !== owner)) return { refundedAt: null };
    const refundedAt = decided.get(feeTransferId) ?? fee.refundedAt;
    if (refundedAt !== null) return { refundedAt };
    const { ledgerId, amountCents, attemptId } = fee;
    book.post({
      kind: 'refund',
      id: refundTransferId(feeTransferId),
      ledgerId,
      amountCents,
      attemptId,
      feeTransferId,
      reason,
    });
    decided.set(feeTransferId, batch.now);
    return { refundedAt: batch.now };
  });

  return { results, changes: book.changes() };
}
