/**
 * The webhooks that partners receive, each event with its envelope, its headers and its signatures.
 * The webhook service sends them and shares the names of the events; a test checks what it really
 * sends against these shapes.
 */
import { createHmac } from 'node:crypto';
import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import type { WebhookEventType } from '@laurel/events/event-type';
import { z } from '../http/zod.ts';
import { DOCUMENTED_EVENTS } from './event-schemas.ts';
import { EVENT_EXAMPLES } from './examples/events.ts';
import { EXAMPLE_WEBHOOK_SECRET } from './examples/story.ts';

const uuid = z.string().openapi({ format: 'uuid' });

const DELIVERY = [
  'Sent by POST to every endpoint that is on and subscribes to it. Any 2xx within 5 seconds takes it; anything else fails the attempt,',
  'redirects included, which are never followed. A failed delivery is sent again 1 minute after the first failure and 5 minutes after the',
  'second, three times in all; then it is `failed` for good. The order is not guaranteed, and a delivery may come twice: dedupe on',
  '`X-Webhook-Delivery-Id`. `timestamp` is when it happened, the same at every attempt, and the body never changes by a byte.',
].join(' ');

const SIGNATURE = [
  '`sha256=` and the HMAC-SHA-256 of the raw body in hex. The key is the UTF-8 bytes of the whole secret as it was shown, with `whsec_`.',
  'Compare in constant time, over the bytes as they came, before the body is read. The secret of this document is',
  `\`${EXAMPLE_WEBHOOK_SECRET}\`; what it signs is the example body without any whitespace.`,
].join(' ');

const DELIVERY_ID = '01a1fdfe-1c08-77ea-9971-a23ba615b142';
/** 2026-11-21T12:04:11Z in seconds since 1970. */
const SENT_AT = '1795262651';

export function registerWebhooks(registry: OpenAPIRegistry): void {
  for (const { type, name, summary, schema } of DOCUMENTED_EVENTS) {
    const example = { event: type, ...EVENT_EXAMPLES[type] };
    registry.registerWebhook({
      method: 'post',
      path: type,
      operationId: `on${name}`,
      tags: ['Webhooks'],
      summary,
      description: DELIVERY,
      security: [],
      request: {
        headers: headersOf(type, JSON.stringify(example)),
        body: {
          required: true,
          content: { 'application/json': { schema, examples: { event: { summary: type, value: example } } } },
        },
      },
      responses: {
        '2XX': { description: 'Acknowledged.' },
        default: { description: 'Not acknowledged: the delivery is sent again, three times in all.' },
      },
    });
  }
}

function headersOf(type: WebhookEventType, body: string) {
  const key = Buffer.from(EXAMPLE_WEBHOOK_SECRET.slice('whsec_'.length), 'base64');
  const standard = createHmac('sha256', key).update(`${DELIVERY_ID}.${SENT_AT}.${body}`).digest('base64');
  return z.object({
    'X-Webhook-Signature': z.string().openapi({
      pattern: '^sha256=[0-9a-f]{64}$',
      description: SIGNATURE,
      example: `sha256=${createHmac('sha256', EXAMPLE_WEBHOOK_SECRET).update(body).digest('hex')}`,
    }),
    'X-Webhook-Event': z.literal(type).openapi({ description: 'The type of the event.', example: type }),
    'X-Webhook-Delivery-Id': uuid.openapi({
      description: 'Of this delivery, the same at each of its attempts. One that is resent from the log is another.',
      example: DELIVERY_ID,
    }),
    'webhook-id': uuid.openapi({
      description: 'Standard Webhooks: the delivery id again.',
      example: DELIVERY_ID,
    }),
    'webhook-timestamp': z.string().openapi({
      pattern: '^\\d+$',
      description: 'Standard Webhooks: when this attempt was sent, in seconds since 1970.',
      example: SENT_AT,
    }),
    'webhook-signature': z.string().openapi({
      pattern: '^v1,[0-9A-Za-z+/]{43}=$',
      description: [
        'Standard Webhooks: `v1,` and the HMAC-SHA-256, in base64, of `webhook-id`, `webhook-timestamp` and the raw body, joined by dots.',
        'Its key is what follows `whsec_`, decoded as base64, so that libraries of that specification take the secret as it is.',
      ].join(' '),
      example: `v1,${standard}`,
    }),
  });
}
