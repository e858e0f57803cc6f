import { isRefused } from '@laurel/errors';
import type { Router } from 'express';
import type { Dependencies } from '../../dependencies.ts';
import { presentReceipt } from '../../presenters/receipt.ts';
import { callOptions, notFound, pathId, route } from '../api-route.ts';

export function receiptRoutes(router: Router, deps: Dependencies): void {
  router.get(
    '/receipts/:receiptId',
    route(async (request) => {
      const receiptId = pathId(request, 'receiptId');
      if (receiptId === null) return notFound();
      const options = callOptions(request);
      // The id of a receipt does not name its owner.
      const asked = await deps.challenge.getReceipt({ receiptId }, options);
      const isElsewhere = isRefused(asked) && asked.code === 'not_found';
      const found = isElsewhere ? await deps.tournament.getReceipt({ receiptId }, options) : asked;
      return isRefused(found) ? found : { status: 200, json: presentReceipt(found) };
    }),
  );
}
