/** GetPayout: one payout, by its award id. */
import { type Refused, refused } from '@laurel/errors';
import type { RpcContext } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { GetPayoutRequest, GetPayoutResponse } from '@laurel/proto/wallet';
import { isUuid } from '@laurel/values/ids';
import { withDecision } from '../repository/payout-decisions.ts';
import { loadPayout } from '../repository/payouts.ts';
import { checkOwned } from './contest-service-of-call.ts';
import { presentPayout } from './present.ts';

export function getPayout({ database }: { database: Database }) {
  return async ({ awardId }: GetPayoutRequest, context: RpcContext): Promise<GetPayoutResponse | Refused> => {
    if (isUuid(awardId)) checkOwned(context, awardId);
    const payout = isUuid(awardId) ? await loadPayout(database, awardId) : null;
    if (payout === null) return refused('not_found');
    return { payout: presentPayout(await withDecision(database, payout)), deniedAt: payout.deniedAt };
  };
}
