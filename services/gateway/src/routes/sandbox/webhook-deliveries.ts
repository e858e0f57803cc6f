import { isRefused } from '@laurel/errors';
import type { Router } from 'express';
import type { Dependencies } from '../../dependencies.ts';
import { callOptions, notFound, pathId, route, tenantOf } from '../api-route.ts';

export function sandboxWebhookDeliveryRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/webhook-deliveries/:deliveryId/retry-now',
    route(async (request) => {
      const deliveryId = pathId(request, 'deliveryId');
      if (deliveryId === null) return notFound();
      const due = await deps.webhook.retryDelivery({ tenant: tenantOf(request), deliveryId }, callOptions(request));
      return isRefused(due) ? due : { status: 202, body: { delivery_id: deliveryId } };
    }),
  );
}
