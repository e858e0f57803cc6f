/**
 * The commit of RefundFees, for a batch of refunds: each posted fee goes back once, to the account
 * that paid it.
 */
import type { Coalescer } from '@laurel/coalesce';
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { refundTransferId } from '@laurel/values/ids';
import type { Environment } from '@laurel/values/tenant';
import { decideRefunds, type Refund, type RefundResult } from '../domain/refund-decision.ts';
import { failpoint } from '../failpoints.ts';
import { loadPaidFees } from '../repository/fees.ts';
import { lockPlayers, writeChanges } from '../repository/ledger.ts';
import { createTransferBatches } from './transfer-batches.ts';

export type FeeRefund = Refund & { readonly environment: Environment };

export type FeeRefundBatches = Coalescer<FeeRefund, RefundResult>;

export function createFeeRefundBatches(deps: { database: Database; clock: Clock }): FeeRefundBatches {
  return createTransferBatches({
    name: 'refund_fees',
    idOf: (refund) => refundTransferId(refund.feeTransferId),
    keyOf: (refund) => refund.feeTransferId,
    environmentOf: ({ environment }) => environment,
    run: (refunds) => runRefunds(deps, refunds),
  });
}

async function runRefunds(
  { database, clock }: { database: Database; clock: Clock },
  refunds: readonly Refund[],
): Promise<readonly RefundResult[]> {
  const results = await database.transaction(
    async (tx) => {
      // Fees are read first, because they name the rows to lock; a posted fee never changes. If
      // another replica posts a refund between this read and the lock, the write fails with a
      // unique violation, and the batch runs again.
      const fees = await loadPaidFees(
        tx,
        refunds.map((refund) => refund.feeTransferId),
      );
      const locked = await lockPlayers(
        tx,
        fees.flatMap((fee) => (fee === null || fee.refundedAt !== null ? [] : fee.ledgerId)),
      );
      const now = clock();
      const decision = decideRefunds({ refunds, fees, locked, now });
      await tx.commitWith((last) => writeChanges(last, decision.changes, now));
      return decision.results;
    },
    { beforeCommit: () => failpoint('wallet.refund.before-commit') },
  );
  await failpoint('wallet.refund.after-commit');
  return results;
}
