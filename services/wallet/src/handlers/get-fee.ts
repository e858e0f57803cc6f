/** GetFee: the posted fee of one attempt, with its refund. */
import { type Refused, refused } from '@laurel/errors';
import { parseId, type RpcContext } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { GetFeeRequest, GetFeeResponse } from '@laurel/proto/wallet';
import { findFee } from '../repository/fees.ts';
import { checkOwned } from './contest-service-of-call.ts';

export function getFee({ database }: { database: Database }) {
  return async (request: GetFeeRequest, context: RpcContext): Promise<GetFeeResponse | Refused> => {
    const attemptId = parseId(request.attemptId);
    checkOwned(context, attemptId);
    const fee = await findFee(database, attemptId);
    if (fee === null) return refused('not_found');
    return {
      feeCents: fee.amount_cents,
      chargedAt: fee.charged_at,
      refundedAt: fee.refunded_at ?? undefined,
      refundReason: fee.refund_reason ?? '',
    };
  };
}
