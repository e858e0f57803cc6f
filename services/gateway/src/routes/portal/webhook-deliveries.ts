import { isRefused } from '@laurel/errors';
import type { Router } from 'express';
import type { Dependencies } from '../../dependencies.ts';
import { callOptions, developerMutation, notFound, pathId, sessionOf } from '../api-route.ts';

export function deliveryRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/deliveries/:deliveryId/resend',
    developerMutation(deps, 'resend_webhook_delivery', async (request) => {
      const deliveryId = pathId(request, 'deliveryId');
      if (deliveryId === null) return notFound();
      const { developerId } = sessionOf(request);
      const resent = await deps.webhook.resendDelivery({ developerId, deliveryId }, callOptions(request));
      if (isRefused(resent)) return resent;
      return {
        status: 202,
        body: { delivery_id: resent.deliveryId },
        logged: { newDeliveryId: resent.deliveryId },
      };
    }),
  );
}
