/** The catalogue of the events that endpoints may subscribe to. */

import { z } from '../../http/zod.ts';
import { DOCUMENTED_EVENTS } from '../../openapi/event-schemas.ts';
import { EVENT_EXAMPLES } from '../../openapi/examples/events.ts';
import { component } from '../component.ts';
import { webhookEvent } from '../webhooks.ts';
import { definePortalRoute } from './route.ts';

const eventCatalogue = component(
  'WebhookEventCatalogue',
  z.object({
    data: z.array(
      component(
        'WebhookEventDescription',
        z.object({
          event: webhookEvent,
          summary: z.string(),
          sample: z.record(z.string(), z.unknown()).openapi({ description: 'A whole body, as it is delivered.' }),
        }),
      ),
    ),
  }),
);

const EVENTS = DOCUMENTED_EVENTS.map(({ type, summary }) => ({
  event: type,
  summary,
  sample: { event: type, ...EVENT_EXAMPLES[type] },
}));

export const listWebhookEvents = definePortalRoute({
  method: 'get',
  path: '/webhook-events',
  name: 'listWebhookEvents',
  summary: 'List the events of webhooks, each with a sample',
  success: { status: 200, description: 'Every event.', schema: eventCatalogue },
  run: async () => ({ body: { data: EVENTS } }),
});
