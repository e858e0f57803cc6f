import { isRefused } from '@laurel/errors';
import type { WebhookClient } from '../../clients/webhook.ts';
import { z } from '../../http/zod.ts';
import { pathId } from '../fields.ts';
import { deliveryIdSchema } from '../webhooks.ts';
import { defineSandboxRoute } from './route.ts';

export const retryWebhookDelivery = defineSandboxRoute({
  method: 'post',
  path: '/webhook-deliveries/{deliveryId}/retry-now',
  name: 'retryWebhookDelivery',
  summary: 'Run the next scheduled retry of a delivery now',
  description:
    'The call counts as that retry, so a repeated call may use up the next one. A retry is scheduled if a send has failed and one of the two retries is left.',
  params: z.object({ deliveryId: pathId }),
  success: { status: 202, description: 'The retry is due.', schema: deliveryIdSchema },
  refusals: { conflict: 'No retry is scheduled.' },
  run: async ({ caller, params: { deliveryId }, options }, { webhook }: { webhook: WebhookClient }) => {
    const due = await webhook.retryDelivery({ tenant: caller, deliveryId }, options);
    return isRefused(due) ? due : { body: { delivery_id: deliveryId } };
  },
});
