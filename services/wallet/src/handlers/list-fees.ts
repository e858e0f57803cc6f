/** ListFees: pages of posted fees in attempt id order, for the audits of the contest services. */
import { parseId, type RpcContext } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { ENVIRONMENTS } from '@laurel/proto/enum-names';
import type { ListFeesRequest, ListFeesResponse } from '@laurel/proto/wallet';
import { pageSize } from '../domain/page-size.ts';
import { listFees as loadFees } from '../repository/fees.ts';
import { checkIsOwner } from './contest-service-of-call.ts';
import { LOWEST_ID, parseOwner } from './parse.ts';

const MAX_PAGE = 5_000;

export function listFees({ database }: { database: Database }) {
  return async ({ afterAttemptId, limit, owner }: ListFeesRequest, context: RpcContext): Promise<ListFeesResponse> => {
    checkIsOwner(context, parseOwner(owner));
    const fees = await loadFees(database, {
      after: afterAttemptId === '' ? LOWEST_ID : parseId(afterAttemptId),
      owner: parseOwner(owner),
      limit: pageSize(limit, MAX_PAGE),
    });
    return {
      fees: fees.map((fee) => ({
        attemptId: fee.attempt_id,
        feeCents: fee.amount_cents,
        refunded: fee.refunded,
        accountId: fee.account_id,
        environment: ENVIRONMENTS[fee.environment],
      })),
    };
  };
}
