/**
 * RefundFees: returns each posted fee once, to the account that paid it. The commit is in
 * commits/post-refunds.ts.
 */
import { isRefundReason } from '@laurel/attempts/domain';
import { parseId, parseItems, type RpcContext } from '@laurel/grpc';
import type {
  FeeRefundResult,
  RefundFeesRequest,
  RefundFeesResponse,
  FeeRefund as WireFeeRefund,
} from '@laurel/proto/wallet';
import type { ContestServiceName } from '@laurel/values/ids';
import type { FeeRefund, FeeRefundBatches } from '../commits/post-refunds.ts';
import type { RefundResult } from '../domain/refund-decision.ts';
import { failpoint } from '../failpoints.ts';
import { contestServiceOfCall } from './contest-service-of-call.ts';
import { batchEnvironmentOf } from './parse.ts';

export function refundFees(
  refunds: FeeRefundBatches,
): (request: RefundFeesRequest, context: RpcContext) => Promise<RefundFeesResponse> {
  return async (request, context) => {
    const owner = contestServiceOfCall(context);
    const items = parseItems(request.refunds).map((refund) => parseRefund(refund, owner));
    const results = await Promise.all(items.map((item) => refunds.submit(item)));
    await failpoint('wallet.reply.before-send');
    return { results: results.map(presentResult) };
  };
}

function parseRefund(
  { feeTransferId, reason, environment }: WireFeeRefund,
  owner: ContestServiceName | null,
): FeeRefund {
  if (!isRefundReason(reason)) throw new Error(`${reason} is not a reason for a refund`);
  return { feeTransferId: parseId(feeTransferId), reason, owner, environment: batchEnvironmentOf(environment) };
}

function presentResult({ refundedAt }: RefundResult): FeeRefundResult {
  return { refunded: refundedAt !== null, refundedAt: refundedAt ?? undefined };
}
