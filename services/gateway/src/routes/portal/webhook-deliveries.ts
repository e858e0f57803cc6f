import { isRefused } from '@laurel/errors';
import type { WebhookClient } from '../../clients/webhook.ts';
import { z } from '../../http/zod.ts';
import { presentDeliveryDetail } from '../../presenters/webhook.ts';
import { pathId } from '../fields.ts';
import { defined } from '../run-route.ts';
import { deliveryDetailSchema, deliveryIdSchema } from '../webhooks.ts';
import { definePortalRoute } from './route.ts';

export const getWebhookDelivery = definePortalRoute({
  method: 'get',
  path: '/deliveries/{deliveryId}',
  name: 'getWebhookDelivery',
  summary: 'Get a delivery with its body',
  params: z.object({ deliveryId: pathId }),
  success: { status: 200, description: 'The delivery with every send.', schema: deliveryDetailSchema },
  run: async (
    { caller: { developerId }, params: { deliveryId }, options },
    { webhook }: { webhook: WebhookClient },
  ) => {
    const found = await webhook.getDelivery({ developerId, deliveryId }, options);
    if (isRefused(found)) return found;
    return { body: presentDeliveryDetail({ ...found, delivery: defined(found.delivery) }) };
  },
});

export const resendWebhookDelivery = definePortalRoute({
  method: 'post',
  path: '/deliveries/{deliveryId}/resend',
  name: 'resendWebhookDelivery',
  summary: 'Send the same body again as a new delivery',
  description:
    'The new delivery has its own id and retries. Its body is unchanged, so a receiver that deduplicates by a hash of the body skips it. Each call creates another delivery.',
  params: z.object({ deliveryId: pathId }),
  success: { status: 202, description: 'The new delivery.', schema: deliveryIdSchema },
  refusals: { conflict: 'The endpoint is switched off.' },
  action: 'resend_webhook_delivery',
  run: async ({ caller, params: { deliveryId }, options }, { webhook }: { webhook: WebhookClient }) => {
    const resent = await webhook.resendDelivery({ developerId: caller.developerId, deliveryId }, options);
    if (isRefused(resent)) return resent;
    return { body: { delivery_id: resent.deliveryId }, logged: { newDeliveryId: resent.deliveryId } };
  },
});
