/** DenyPayout: an operator closes a held payout unpaid. */
import { isRefused, type Refused, refused } from '@laurel/errors';
import type { RpcContext } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { DenyPayoutRequest, DenyPayoutResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { isUuid } from '@laurel/values/ids';
import { decideDenial } from '../domain/payout-review.ts';
import { lockPayout, markDenied } from '../repository/payouts.ts';
import { checkOwned } from './contest-service-of-call.ts';
import { presentPayout } from './present.ts';

export function denyPayout({ database, clock }: { database: Database; clock: Clock }) {
  return async ({ awardId }: DenyPayoutRequest, context: RpcContext): Promise<DenyPayoutResponse | Refused> => {
    if (!isUuid(awardId)) return refused('not_found');
    checkOwned(context, awardId);
    return await database.transaction(async (tx) => {
      const held = await lockPayout(tx, awardId);
      const decision = decideDenial(held);
      if (isRefused(decision)) return decision;
      if (held === null) throw new Error('a payout that does not exist was denied');
      const denied = decision === 'done' ? held : await markDenied(tx, awardId, clock());
      return { payout: presentPayout(denied) };
    });
  };
}
