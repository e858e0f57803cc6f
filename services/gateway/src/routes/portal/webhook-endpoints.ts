import { isRefused, type Refused, refused } from '@laurel/errors';
import { hasNul, isAtMost } from '@laurel/json';
import type { Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { DELIVERY_STATUSES } from '@laurel/proto/enum-names';
import { DeliveryStatus, type Endpoint } from '@laurel/proto/webhook';
import { MAX_URL_CHARACTERS } from '@laurel/untrusted-url';
import { isBefore } from '@laurel/values/instant';
import { MAX_ENDPOINT_DESCRIPTION_CHARACTERS, MAX_PAGE_ROWS, MAX_STATS_HOURS } from '@laurel/values/limits';
import type { WebhookClient } from '../../clients/webhook.ts';
import type { Result } from '../../http/route.ts';
import { z } from '../../http/zod.ts';
import { presentDelivery, presentEndpoint, presentEndpointStats } from '../../presenters/webhook.ts';
import { listProgramIds } from '../../repository/programs.ts';
import { component } from '../component.ts';
import { CHANGE_BODY, environment, followedPage, id, instant, pastHours, pathId, text } from '../fields.ts';
import { defined } from '../run-route.ts';
import {
  deliveryIdSchema,
  deliveryListSchema,
  deliveryStatus,
  endpointListSchema,
  endpointSchema,
  endpointStatsSchema,
  endpointWithSecretSchema,
  resentSchema,
  webhookEvent,
} from '../webhooks.ts';
import { definePortalRoute } from './route.ts';

/** An empty list means every event. */
const events = z
  .array(webhookEvent)
  .max(100)
  .transform((sent) => [...new Set(sent)]);

const description = z
  .string()
  .refine(
    (value) => isAtMost(value, MAX_ENDPOINT_DESCRIPTION_CHARACTERS),
    `must have at most ${MAX_ENDPOINT_DESCRIPTION_CHARACTERS} characters`,
  )
  .refine((value) => !hasNul(value), 'must not contain NUL');

// Whether the URL is safe is decided by the webhook service, which calls it.
const newEndpoint = component(
  'WebhookEndpointRequest',
  z.strictObject({
    url: text(MAX_URL_CHARACTERS),
    events: events.default([]),
    program_id: id.nullish(),
    environment: environment.nullish(),
    description: description.nullish(),
  }),
);

const endpointChange = component(
  'WebhookEndpointChange',
  z
    .strictObject({
      url: text(MAX_URL_CHARACTERS).optional(),
      events: events.optional(),
      description: description.optional(),
      active: z.boolean().optional(),
    })
    .refine((body) => Object.keys(body).length > 0, 'must change something'),
  CHANGE_BODY,
);

const deliveryQuery = z
  .object({
    status: deliveryStatus.optional().openapi({ description: 'If absent, every status.' }),
    event: webhookEvent.optional().openapi({ description: 'If absent, every event.' }),
    ...followedPage,
  })
  .refine(({ cursor, after }) => cursor === undefined || after === undefined, {
    path: ['after'],
    message: 'must not be sent with cursor',
  });

const statsQuery = z.object({ hours: pastHours(MAX_STATS_HOURS) });

const resendPeriod = component(
  'ResendPeriod',
  z.strictObject({
    from: instant.openapi({ description: 'Deliveries created from then on' }),
    to: instant.openapi({ description: 'and before then.' }),
  }),
);

const params = z.object({ endpointId: pathId });

interface Webhooks {
  readonly webhook: WebhookClient;
}

export const createWebhookEndpoint = definePortalRoute({
  method: 'post',
  path: '/webhook-endpoints',
  name: 'createWebhookEndpoint',
  summary: 'Register an endpoint',
  description:
    'Only this response and that of a rotation show the `signing_secret`. Without `program_id` the endpoint gets the events of every program of the developer, without `environment` those of test and live, with an empty `events` every type. A developer has at most 20 endpoints. A repeated call registers another endpoint.',
  body: newEndpoint,
  success: { status: 201, description: 'The endpoint with its secret.', schema: endpointWithSecretSchema },
  refusals: {
    invalid_request: 'The body does not match its schema, or the URL is not safe to call.',
    not_found: 'The developer has no such program.',
    conflict: 'The developer already has the maximum number of endpoints.',
  },
  action: 'create_webhook_endpoint',
  run: async ({ caller: { developerId }, body, options }, { webhook, database }: Webhooks & { database: Database }) => {
    const programIds = await listProgramIds(database, developerId);
    const programId = body.program_id ?? undefined;
    if (programId !== undefined && !programIds.includes(programId)) return refused('not_found');
    const created = await webhook.createEndpoint(
      {
        developerId,
        programIds,
        url: body.url,
        events: body.events,
        programId,
        environment: body.environment ?? Environment.UNSPECIFIED,
        description: body.description ?? '',
      },
      options,
    );
    return isRefused(created) ? created : answerWithSecret(created);
  },
});

export const listWebhookEndpoints = definePortalRoute({
  method: 'get',
  path: '/webhook-endpoints',
  name: 'listWebhookEndpoints',
  summary: "List the developer's endpoints",
  description: 'The list has all endpoints, at most 20, without their secrets.',
  success: { status: 200, description: 'Oldest first.', schema: endpointListSchema },
  run: async ({ caller: { developerId }, options }, { webhook }: Webhooks) => {
    const listed = await webhook.listEndpoints({ developerId }, options);
    return isRefused(listed) ? listed : { body: { data: listed.endpoints.map(presentEndpoint) } };
  },
});

export const getWebhookEndpoint = definePortalRoute({
  method: 'get',
  path: '/webhook-endpoints/{endpointId}',
  name: 'getWebhookEndpoint',
  summary: 'Read an endpoint',
  params,
  success: { status: 200, description: 'The endpoint, without its secret.', schema: endpointSchema },
  run: async ({ caller: { developerId }, params: { endpointId }, options }, { webhook }: Webhooks) =>
    answer(await webhook.getEndpoint({ developerId, endpointId }, options)),
});

export const changeWebhookEndpoint = definePortalRoute({
  method: 'patch',
  path: '/webhook-endpoints/{endpointId}',
  name: 'changeWebhookEndpoint',
  summary: 'Change an endpoint, or switch it off or on',
  description:
    '`active: false` ends the pending deliveries as `failed`; `active: true` does not send them, but each can be resent. The program and the environment cannot be changed.',
  params,
  body: endpointChange,
  success: { status: 200, description: 'The endpoint.', schema: endpointSchema },
  refusals: { invalid_request: 'The body does not match its schema, or the URL is not safe to call.' },
  action: 'change_webhook_endpoint',
  run: async ({ caller: { developerId }, params: { endpointId }, body, options }, { webhook }: Webhooks) => {
    const { url, active } = body;
    const subscription = body.events && { events: body.events };
    const change = { developerId, endpointId, url, events: subscription, description: body.description, active };
    const changed = answer(await webhook.updateEndpoint(change, options));
    return isRefused(changed) ? changed : { ...changed, logged: { changed: Object.keys(body), active } };
  },
});

export const deleteWebhookEndpoint = definePortalRoute({
  method: 'delete',
  path: '/webhook-endpoints/{endpointId}',
  name: 'deleteWebhookEndpoint',
  summary: 'Remove an endpoint with its log',
  description: 'The log of its deliveries is removed with it.',
  params,
  success: { status: 204, description: 'The endpoint is removed. Its pending deliveries are never sent.' },
  action: 'delete_webhook_endpoint',
  run: async ({ caller: { developerId }, params: { endpointId }, options }, { webhook }: Webhooks) => {
    const deleted = await webhook.deleteEndpoint({ developerId, endpointId }, options);
    return isRefused(deleted) ? deleted : {};
  },
});

export const rotateWebhookSecret = definePortalRoute({
  method: 'post',
  path: '/webhook-endpoints/{endpointId}/rotate-secret',
  name: 'rotateWebhookSecret',
  summary: 'Replace the signing secret at once, for retries too',
  description:
    'Only this response shows the new secret. It signs everything that is sent from then on, retries included; the old secret signs nothing more. A repeated call creates another secret.',
  params,
  success: { status: 200, description: 'The endpoint with its new secret.', schema: endpointWithSecretSchema },
  action: 'rotate_webhook_secret',
  run: async ({ caller: { developerId }, params: { endpointId }, options }, { webhook }: Webhooks) => {
    const rotated = await webhook.rotateSecret({ developerId, endpointId }, options);
    return isRefused(rotated) ? rotated : answerWithSecret(rotated);
  },
});

export const sendTestEvent = definePortalRoute({
  method: 'post',
  path: '/webhook-endpoints/{endpointId}/test',
  name: 'sendTestEvent',
  summary: 'Send `webhook.test` to the endpoint, whatever it subscribes to',
  description:
    'The response arrives before the event is sent: the log of the endpoint shows the result. Each call sends another event.',
  params,
  success: { status: 202, description: 'The delivery.', schema: deliveryIdSchema },
  refusals: { conflict: 'The endpoint is switched off.' },
  action: 'send_test_webhook',
  run: async ({ caller: { developerId }, params: { endpointId }, options }, { webhook }: Webhooks) => {
    const sent = await webhook.sendTest({ developerId, endpointId }, options);
    if (isRefused(sent)) return sent;
    const { deliveryId } = sent;
    return { body: { delivery_id: deliveryId }, logged: { deliveryId } };
  },
});

export const listWebhookDeliveries = definePortalRoute({
  method: 'get',
  path: '/webhook-endpoints/{endpointId}/deliveries',
  name: 'listWebhookDeliveries',
  summary: 'List the deliveries of an endpoint',
  description:
    'A delivery stays in the log for 30 days unless the installation sets another time. `attempts` has the beginning of each response of the endpoint, or the reason why there was none.',
  params,
  query: deliveryQuery,
  success: { status: 200, description: 'Newest first, each with every send.', schema: deliveryListSchema },
  run: async ({ caller: { developerId }, params: { endpointId }, query, options }, { webhook }: Webhooks) => {
    const listed = await webhook.listDeliveries(
      {
        developerId,
        endpointId,
        status: query.status === undefined ? DeliveryStatus.UNSPECIFIED : DELIVERY_STATUSES[query.status],
        event: query.event ?? '',
        limit: query.limit ?? MAX_PAGE_ROWS,
        cursor: query.cursor ?? '',
        after: query.after ?? '',
      },
      options,
    );
    if (isRefused(listed)) return listed;
    const data = listed.deliveries.map(presentDelivery);
    return { body: { data, next_cursor: listed.nextCursor || null, head_cursor: listed.headCursor || null } };
  },
});

export const getEndpointStats = definePortalRoute({
  method: 'get',
  path: '/webhook-endpoints/{endpointId}/stats',
  name: 'getEndpointStats',
  summary: 'Count the deliveries of the last hours',
  params,
  query: statsQuery,
  success: { status: 200, description: 'The counts.', schema: endpointStatsSchema },
  run: async ({ caller: { developerId }, params: { endpointId }, query, options }, { webhook }: Webhooks) => {
    const { hours } = query;
    const stats = await webhook.getEndpointStats({ developerId, endpointId, hours }, options);
    return isRefused(stats) ? stats : { body: presentEndpointStats(hours, stats) };
  },
});

export const resendFailedDeliveries = definePortalRoute({
  method: 'post',
  path: '/webhook-endpoints/{endpointId}/resend-failed',
  name: 'resendFailedDeliveries',
  summary: 'Send the failed deliveries of a period again',
  description:
    'An event is sent again once if a delivery of it failed in the period and no other to the endpoint is pending or delivered. At most 1,000 are sent at once, oldest first. A repeated call sends no delivery twice: it skips those whose resend is pending or delivered.',
  params,
  body: resendPeriod,
  success: { status: 202, description: 'How many were sent again.', schema: resentSchema },
  refusals: { conflict: 'The endpoint is switched off.' },
  action: 'resend_failed_webhook_deliveries',
  run: async ({ caller: { developerId }, params: { endpointId }, body, options }, { webhook }: Webhooks) => {
    if (!isBefore(body.from, body.to)) return refused('invalid_request', 'to: must be after from');
    const resent = await webhook.resendFailedDeliveries({ developerId, endpointId, ...body }, options);
    if (isRefused(resent)) return resent;
    const resumeFrom = resent.resumeFrom?.toISOString() ?? null;
    return {
      body: { resent: resent.resent, more: resumeFrom !== null, resume_from: resumeFrom },
      logged: { endpointId, resent: resent.resent },
    };
  },
});

function answer(response: { readonly endpoint: Endpoint | undefined } | Refused): Result | Refused {
  return isRefused(response) ? response : { body: presentEndpoint(defined(response.endpoint)) };
}

function answerWithSecret(made: { readonly endpoint: Endpoint | undefined; readonly signingSecret: string }): Result {
  return { body: { ...presentEndpoint(defined(made.endpoint)), signing_secret: made.signingSecret } };
}
