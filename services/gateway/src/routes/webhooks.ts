/** Endpoints and deliveries as the portal and the sandbox answer them. */
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
