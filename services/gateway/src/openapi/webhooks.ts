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
import { EXAMPLE_WEBHOOK_SECRET } from './examples/secrets.ts';

const uuid = z.string().openapi({ format: 'uuid' });

const DELIVERY = [
  'Laurel sends the event by POST to every active endpoint that subscribes to it. Any 2xx within 5 seconds acknowledges the delivery.',
  'Anything else fails this attempt, redirects included, which Laurel never follows. A failed delivery is sent again 1 minute after the',
  'first failure and 5 minutes after the second, three times in all; then it is `failed` for good. The order is not guaranteed, and a',
  'delivery may arrive twice: deduplicate on `X-Webhook-Delivery-Id`. `timestamp` is when the event happened. The body is the same, byte',
  'for byte, at every attempt.',
].join(' ');

const SIGNATURE = [
  '`sha256=` and the HMAC-SHA-256 of the raw body in hex. The key is the UTF-8 bytes of the whole secret, with its `whsec_`.',
  'Verify the bytes as they arrived, in constant time, before you parse the body. The secret of the examples is',
  `\`${EXAMPLE_WEBHOOK_SECRET}\`; it signs the example body without any whitespace.`,
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
        '2XX': { description: 'The delivery is acknowledged.' },
        default: { description: 'The delivery is not acknowledged. Laurel sends it again, three times in all.' },
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
      description:
        'The id of this delivery, the same at each of its attempts. A delivery that is resent from the log has a new id.',
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
        'The key is the part after `whsec_`, decoded as base64, so libraries of that specification accept the secret unchanged.',
      ].join(' '),
      example: `v1,${standard}`,
    }),
  });
}
