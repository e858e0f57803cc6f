import { isRefused } from '@laurel/errors';
import type { WebhookClient } from '../../clients/webhook.ts';
import { z } from '../../http/zod.ts';
import { pathId } from '../fields.ts';
import { deliveryIdSchema } from '../webhooks.ts';
import { definePortalRoute } from './route.ts';

export const resendWebhookDelivery = definePortalRoute({
  method: 'post',
  path: '/deliveries/{deliveryId}/resend',
  name: 'resendWebhookDelivery',
  summary: 'Send the same body again as a new delivery',
  description:
    'The new delivery has an id and retries of its own. Its body is that of the first one, so a receiver that skips events by the hash of the body skips it. Each call makes another delivery.',
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
