/** DenyPayout: an operator closes a held payout unpaid. */
import { parseReview } from '@laurel/attempts/domain';
import { isRefused, type Refused, refused } from '@laurel/errors';
import type { RpcContext } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { DenyPayoutRequest, DenyPayoutResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { isUuid } from '@laurel/values/ids';
import { decideDenial } from '../domain/payout-review.ts';
import { keepDecision, withDecision } from '../repository/payout-decisions.ts';
import { lockPayout, markDenied } from '../repository/payouts.ts';
import { checkOwned } from './contest-service-of-call.ts';
import { presentPayout } from './present.ts';

export function denyPayout({ database, clock }: { database: Database; clock: Clock }) {
  return async (request: DenyPayoutRequest, context: RpcContext): Promise<DenyPayoutResponse | Refused> => {
    const { awardId } = request;
    if (!isUuid(awardId)) return refused('not_found');
    checkOwned(context, awardId);
    const review = parseReview('denied', request);
    if (review !== null && isRefused(review)) return review;
    return await database.transaction(async (tx) => {
      const held = await lockPayout(tx, awardId);
      const decision = decideDenial(held);
      if (isRefused(decision)) return decision;
      if (held === null) throw new Error('a payout that does not exist was denied');
      if (decision === 'done') return { payout: presentPayout(await withDecision(tx, held)) };
      const now = clock();
      const denied = await markDenied(tx, awardId, now);
      return { payout: presentPayout(await keepDecision(tx, denied, review)) };
    });
  };
}
