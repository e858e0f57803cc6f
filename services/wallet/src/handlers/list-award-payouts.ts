/** ListAwardPayouts: pages of payouts in award id order, for the audits of the contest services. */
import { parseId, type RpcContext } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ListAwardPayoutsRequest, ListAwardPayoutsResponse } from '@laurel/proto/wallet';
import { pageSize } from '../domain/page-size.ts';
import { listAwardPayouts as loadPayouts } from '../repository/payouts.ts';
import { checkIsOwner } from './contest-service-of-call.ts';
import { LOWEST_ID, parseOwner } from './parse.ts';
import { presentPayout } from './present.ts';

const MAX_PAGE = 5_000;

export function listAwardPayouts({ database }: { database: Database }) {
  return async (
    { afterAwardId, limit, owner }: ListAwardPayoutsRequest,
    context: RpcContext,
  ): Promise<ListAwardPayoutsResponse> => {
    checkIsOwner(context, parseOwner(owner));
    const payouts = await loadPayouts(database, {
      after: afterAwardId === '' ? LOWEST_ID : parseId(afterAwardId),
      owner: parseOwner(owner),
      limit: pageSize(limit, MAX_PAGE),
    });
    return { payouts: payouts.map(presentPayout) };
  };
}
