/**
 * Endpoints and deliveries as the portal and the sandbox show them, and the events of the sandbox.
 */
import { WEBHOOK_EVENT_TYPES } from '@laurel/events/event-type';
import { z } from '../http/zod.ts';
import { component, orNull } from './component.ts';
import { environmentName, headCursor, nextCursor } from './fields.ts';
import { timestamp, uuid } from './v1/fields.ts';

export const webhookEvent = component('WebhookEventType', z.enum(WEBHOOK_EVENT_TYPES));

export const deliveryIdSchema = component('DeliveryReference', z.object({ delivery_id: uuid }));

export const endpointSchema = component(
  'WebhookEndpoint',
  z.object({
    id: uuid,
    url: z.string(),
    events: z.array(webhookEvent).openapi({ description: 'An empty list subscribes to every event.' }),
    program_id: uuid
      .nullable()
      .openapi({ description: 'Null: the endpoint gets events of every program of the developer.' }),
    environment: orNull(environmentName).openapi({ description: 'Null: both environments.' }),
    description: z.string(),
    active: z.boolean(),
    created_at: timestamp,
  }),
);

export const endpointListSchema = component('WebhookEndpointList', z.object({ data: z.array(endpointSchema) }));

export const endpointWithSecretSchema = component(
  'WebhookEndpointWithSecret',
  endpointSchema.extend({
    signing_secret: z.string().openapi({ description: 'Only this response shows the secret.' }),
  }),
);

const milliseconds = z.int().nullable();

const sendPhases = component(
  'WebhookSendPhases',
  z.object({ dns_ms: milliseconds, connect_ms: milliseconds, wait_ms: milliseconds, read_ms: milliseconds }),
  {
    description:
      'How long each part of the send took: resolving the name, connecting with TLS, waiting for the response, reading it. A part that was not reached, or not needed, is null.',
  },
);

const sendSchema = component(
  'WebhookSend',
  z.object({
    number: z.int(),
    started_at: timestamp,
    duration_ms: milliseconds,
    phases: sendPhases,
    http_status: z.int().nullable(),
    error_kind: z.string().nullable(),
    error: z.string().nullable(),
    response_excerpt: z.string().nullable(),
  }),
);

export const deliveryStatus = component('DeliveryStatus', z.enum(['pending', 'delivered', 'failed']));

export const deliverySchema = component(
  'WebhookDelivery',
  z.object({
    id: uuid,
    event: webhookEvent,
    status: deliveryStatus,
    created_at: timestamp,
    next_attempt_at: timestamp.nullable(),
    attempts: z.array(sendSchema).openapi({ description: 'Every send, oldest first.' }),
  }),
);

export const deliveryDetailSchema = component(
  'WebhookDeliveryDetail',
  deliverySchema.extend({
    endpoint_id: uuid,
    event_id: uuid.openapi({ description: 'A resend has the id of the same event.' }),
    program_id: uuid.nullable().openapi({ description: 'Null for `webhook.test`.' }),
    environment: orNull(environmentName).openapi({ description: 'Null for `webhook.test`.' }),
    body: z.string().openapi({ description: 'The body of every send, as text: a signature is of its UTF-8 bytes.' }),
    resend_of: uuid.nullable().openapi({ description: 'The delivery that a developer sent again; otherwise null.' }),
  }),
);

export const deliveryListSchema = component(
  'WebhookDeliveryList',
  z.object({
    data: z.array(deliverySchema),
    next_cursor: nextCursor,
    head_cursor: headCursor,
  }),
);

export const endpointStatsSchema = component(
  'WebhookEndpointStats',
  z.object({
    hours: z.int(),
    delivered: z.int(),
    failed: z.int(),
    pending: z.int(),
    success_rate: z
      .number()
      .nullable()
      .openapi({ description: '`delivered` of `delivered` and `failed`, from 0 to 1; null if both are 0.' }),
    p50_ms: milliseconds.openapi({
      description: 'The median duration of the sends of the newest 10,000 deliveries; null if none has ended.',
    }),
    p95_ms: milliseconds.openapi({ description: 'Their 95th percentile.' }),
    last_failure: orNull(
      component(
        'WebhookFailure',
        z.object({
          at: timestamp.openapi({ description: 'When the last send began, or the endpoint was switched off.' }),
          delivery_id: uuid,
          http_status: z.int().nullable(),
          error_kind: z.string().nullable(),
        }),
      ),
    ).openapi({ description: 'The newest delivery of the period that has failed.' }),
    counted_from: timestamp.nullable().openapi({
      description:
        'Set if the period has more than 50,000 deliveries: only those created from then on are counted. Null: all are.',
    }),
    buckets: z
      .array(
        component(
          'WebhookStatsBucket',
          z.object({
            from: timestamp.openapi({ description: 'Its end is the beginning of the next one.' }),
            delivered: z.int(),
            failed: z.int(),
          }),
        ),
      )
      .openapi({ description: 'Each is one hour up to 48 hours, six up to 168, else a day; oldest first.' }),
  }),
  { description: 'The deliveries created in the period, by their status now.' },
);

export const resentSchema = component(
  'ResentDeliveries',
  z.object({
    resent: z.int().openapi({ description: 'The number of new deliveries.' }),
    more: z.boolean().openapi({ description: 'Failed deliveries of the period may be left.' }),
    resume_from: timestamp.nullable().openapi({ description: 'The `from` that continues; null if `more` is false.' }),
  }),
);

const sandboxEventSchema = component(
  'SandboxEvent',
  z.object({
    id: uuid.openapi({ description: 'The id of the event, not of a delivery.' }),
    event: webhookEvent,
    created_at: timestamp,
    body: z.string().openapi({ description: 'The body of a webhook with this event, as text: sign its UTF-8 bytes.' }),
    cursor: z.string().openapi({ description: 'The `after` that continues with the next event.' }),
  }),
);

export const sandboxEventListSchema = component(
  'SandboxEventList',
  z.object({
    data: z.array(sandboxEventSchema),
    next_cursor: z.string().openapi({ description: 'The `after` of the next request; an empty page has one too.' }),
  }),
);
