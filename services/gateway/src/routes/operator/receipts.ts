import { isRefused } from '@laurel/errors';
import type { Router } from 'express';
import type { Dependencies } from '../../dependencies.ts';
import { callOptions, notFound, pathId, route } from '../api-route.ts';

export function receiptRoutes(router: Router, deps: Dependencies): void {
  router.get(
    '/receipts/:receiptId',
    route(async (request) => {
      const receiptId = pathId(request, 'receiptId');
      if (receiptId === null) return notFound();
      const found = await deps.challenge.getReceipt({ receiptId }, callOptions(request));
      if (isRefused(found)) return found;
      const rest = { signature: found.signature.toString('base64'), public_key: found.publicKey.toString('base64') };
      // The receipt goes out as the very text that was signed, not as a reading of it.
      return { status: 200, json: `{"receipt":${found.receiptJson},${JSON.stringify(rest).slice(1)}` };
    }),
  );
}
