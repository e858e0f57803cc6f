/**
 * What becomes of a batch of refunds. A fee is returned at most once, in full, to the account that paid it: whoever the ref names by
 * then, the money goes back where it came from. A fee that was never posted is not refunded, and nothing is written.
 */
import { refundTransferId } from '@laurel/ids';
import type { Cents } from '@laurel/money';
import { type LedgerChanges, openBook, type PlayerLedger, type RefundReason } from './ledger.ts';

export type Refund = { readonly feeTransferId: string; readonly reason: RefundReason };

/** A posted fee, and when it was returned if it was. */
export type PaidFee = {
  readonly ledgerId: string;
  readonly attemptId: string;
  readonly amountCents: Cents;
  readonly refundedAt: Date | null;
};

export type RefundResult = { readonly refundedAt: Date | null };

/** One result a refund, in order; null instead of an instant says that the fee was never posted. */
export function decideRefunds(batch: {
  readonly refunds: readonly Refund[];
  /** One per refund; null when no such fee is posted. */
  readonly fees: readonly (PaidFee | null)[];
  readonly locked: readonly PlayerLedger[];
  readonly now: Date;
}): { readonly results: readonly RefundResult[]; readonly changes: LedgerChanges } {
  const book = openBook(batch.locked);
  const decided = new Map<string, Date>();

  const results = batch.refunds.map(({ feeTransferId, reason }, index): RefundResult => {
    const fee = batch.fees[index];
    if (fee === undefined) throw new Error(`the fee ${feeTransferId} was not looked up`);
    if (fee === null) return { refundedAt: null };
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
