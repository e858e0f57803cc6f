/** Endpoints and deliveries as the portal and the sandbox answer them, and the events of the sandbox. */
import { WEBHOOK_EVENT_TYPES } from '@laurel/events/event-type';
import { z } from '../http/zod.ts';
import { timestamp, uuid } from './v1/schemas.ts';

export const webhookEvent = z.enum(WEBHOOK_EVENT_TYPES);

export const deliveryIdSchema = z.object({ delivery_id: uuid }).openapi('DeliveryId');

export const endpointSchema = z
  .object({
    id: uuid,
    url: z.string(),
    events: z.array(webhookEvent).openapi({ description: 'An empty list is a subscription to every event.' }),
    program_id: uuid.nullable().openapi({ description: 'Null: every program of the developer.' }),
    environment: z.enum(['test', 'live']).nullable().openapi({ description: 'Null: both.' }),
    description: z.string(),
    active: z.boolean(),
    created_at: timestamp,
  })
  .openapi('Endpoint');

export const endpointWithSecretSchema = endpointSchema
  .extend({ signing_secret: z.string().openapi({ description: 'Shown by this answer alone.' }) })
  .openapi('EndpointWithSecret');

const sendSchema = z.object({
  number: z.int(),
  started_at: timestamp,
  duration_ms: z.int().nullable(),
  http_status: z.int().nullable(),
  error_kind: z.string().nullable(),
  error: z.string().nullable(),
  response_excerpt: z.string().nullable(),
});

export const deliveryListSchema = z
  .object({
    data: z.array(
      z
        .object({
          id: uuid,
          event: webhookEvent,
          status: z.enum(['pending', 'delivered', 'failed']),
          created_at: timestamp,
          next_attempt_at: timestamp.nullable(),
          attempts: z.array(sendSchema).openapi({ description: 'Every send, the first first.' }),
        })
        .openapi('Delivery'),
    ),
    next_cursor: z.string().nullable(),
  })
  .openapi('DeliveryList');

export const sandboxEventListSchema = z
  .object({
    data: z.array(
      z
        .object({
          id: uuid.openapi({ description: 'Of the event, not of a delivery.' }),
          event: webhookEvent,
          created_at: timestamp,
          body: z.string().openapi({
            description: 'The body that a webhook of it has, as text: sign its UTF-8 bytes.',
            example:
              '{"event":"challenge.suspended","timestamp":"2026-01-31T12:00:00.000Z","data":{"challenge_id":"0193f3a0-7c1e-7000-8000-000000000001","name":"Reach one hundred","test":true}}',
          }),
          cursor: z.string().openapi({ description: 'An `after` that continues behind this event.' }),
        })
        .openapi('SandboxEvent'),
    ),
    next_cursor: z.string().openapi({ description: 'Also of an empty page.' }),
  })
  .openapi('SandboxEventList');
