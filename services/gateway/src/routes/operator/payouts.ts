import { isRefused } from '@laurel/errors';
import { PayoutStatus } from '@laurel/proto/wallet';
import type { Router } from 'express';
import { z } from 'zod';
import { type Dependencies, serviceOf } from '../../dependencies.ts';
import { presentPayout } from '../../presenters/payout.ts';
import { PAYOUT_STATUSES } from '../../presenters/wire-names.ts';
import { callOptions, mutation, notFound, parseQuery, pathId, present, route } from '../api-route.ts';
import { PAGE_LIMIT, page } from '../fields.ts';

const payoutQuery = z.object({ status: z.enum(['paid', 'held', 'denied']).optional(), ...page });

export function payoutRoutes(router: Router, deps: Dependencies): void {
  router.get(
    '/payouts',
    route(async (request) => {
      const query = parseQuery(request, payoutQuery);
      if (isRefused(query)) return query;
      const listed = await deps.wallet.listPayouts(
        {
          status: query.status === undefined ? PayoutStatus.UNSPECIFIED : PAYOUT_STATUSES[query.status],
          limit: query.limit ?? PAGE_LIMIT,
          cursor: query.cursor ?? '',
        },
        callOptions(request),
      );
      if (isRefused(listed)) return listed;
      return { status: 200, body: { data: listed.payouts.map(presentPayout), next_cursor: listed.nextCursor || null } };
    }),
  );

  // The owner of the award decides and moves the money, so that what it shows and the wallet cannot part; the wallet then shows the payout.
  for (const verb of ['release', 'deny'] as const) {
    router.post(
      `/payouts/:awardId/${verb}`,
      mutation(deps, `${verb}_payout`, async (request) => {
        const awardId = pathId(request, 'awardId');
        const service = awardId === null ? null : serviceOf(deps, awardId);
        if (awardId === null || service === null) return notFound();
        const options = callOptions(request);
        const decided =
          verb === 'release'
            ? await service.releaseAward({ awardId }, options)
            : await service.denyAward({ awardId }, options);
        if (isRefused(decided)) return decided;
        const found = await deps.wallet.getPayout({ awardId }, options);
        return isRefused(found) ? found : { status: 200, body: presentPayout(present(found.payout)) };
      }),
    );
  }
}
