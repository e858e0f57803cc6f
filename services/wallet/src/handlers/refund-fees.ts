/** RefundFees: returns each posted fee once, to the account that paid it. */

import { isRefundReason } from '@laurel/attempts/domain';
import type { Coalescer } from '@laurel/coalesce';
import { parseId, parseItems, type RpcContext } from '@laurel/grpc';
import { type AttemptOwner, refundTransferId } from '@laurel/ids';
import type { Database } from '@laurel/postgres';
import type {
  FeeRefundResult,
  RefundFeesRequest,
  RefundFeesResponse,
  FeeRefund as WireFeeRefund,
} from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { decideRefunds, type Refund, type RefundResult } from '../domain/refund-decision.ts';
import { failpoint } from '../failpoints.ts';
import { loadPaidFees } from '../repository/fees.ts';
import { lockPlayers, writeChanges } from '../repository/ledger.ts';
import { ownerOfCall } from './owner-of-call.ts';
import { createTransferBatches } from './transfer-batches.ts';

export type FeeRefunds = Coalescer<Refund, RefundResult>;

export function createFeeRefunds(deps: { database: Database; clock: Clock }): FeeRefunds {
  return createTransferBatches({
    name: 'refund_fees',
    idOf: (refund) => refundTransferId(refund.feeTransferId),
    keyOf: (refund) => refund.feeTransferId,
    run: (refunds) => runRefunds(deps, refunds),
  });
}

async function runRefunds(
  { database, clock }: { database: Database; clock: Clock },
  refunds: readonly Refund[],
): Promise<readonly RefundResult[]> {
  const results = await database.transaction(
    async (tx) => {
      // The fees name the rows to lock, so they are read first: a posted fee never changes. Where another replica posts a refund
      // between this read and the lock, the write fails with a unique violation, and the batch runs again.
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

export function refundFees(
  refunds: FeeRefunds,
): (request: RefundFeesRequest, context: RpcContext) => Promise<RefundFeesResponse> {
  return async (request, context) => {
    const owner = ownerOfCall(context);
    const items = parseItems(request.refunds).map((refund) => parseRefund(refund, owner));
    const results = await Promise.all(items.map((item) => refunds.submit(item)));
    await failpoint('wallet.reply.before-send');
    return { results: results.map(presentResult) };
  };
}

function parseRefund({ feeTransferId, reason }: WireFeeRefund, owner: AttemptOwner | null): Refund {
  if (!isRefundReason(reason)) throw new Error(`${reason} is no reason for a refund`);
  return { feeTransferId: parseId(feeTransferId), reason, owner };
}

function presentResult({ refundedAt }: RefundResult): FeeRefundResult {
  return { refunded: refundedAt !== null, refundedAt: refundedAt ?? undefined };
}
