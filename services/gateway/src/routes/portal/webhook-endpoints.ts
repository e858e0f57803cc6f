import { isRefused, type Refused } from '@laurel/errors';
import { WEBHOOK_EVENT_TYPES } from '@laurel/events/event-type';
import { Environment } from '@laurel/proto/common';
import { DeliveryStatus, type Endpoint } from '@laurel/proto/webhook';
import type { Router } from 'express';
import { z } from 'zod';
import type { Dependencies } from '../../dependencies.ts';
import { isAtMost } from '../../domain/text.ts';
import { presentDelivery, presentEndpoint } from '../../presenters/webhook.ts';
import { DELIVERY_STATUSES } from '../../presenters/wire-names.ts';
import { listProgramIds } from '../../repository/programs.ts';
import {
  type Answer,
  callOptions,
  developerMutation,
  notFound,
  parseBody,
  parseQuery,
  pathId,
  present,
  route,
  sessionOf,
} from '../api-route.ts';
import { environment, id, PAGE_LIMIT, page, text } from '../fields.ts';

const MAX_URL_CHARACTERS = 2_048;
const MAX_DESCRIPTION_CHARACTERS = 1_000;

const event = z.enum(WEBHOOK_EVENT_TYPES);

/** An empty list means every event. */
const events = z
  .array(event)
  .max(100)
  .transform((sent) => [...new Set(sent)]);

const description = z
  .string()
  .refine(
    (value) => isAtMost(value, MAX_DESCRIPTION_CHARACTERS),
    `must have at most ${MAX_DESCRIPTION_CHARACTERS} characters`,
  )
  .refine((value) => !value.includes('\0'), 'must not contain NUL');

// Whether the URL is a safe one is the webhook service's to say, which also calls it.
const createEndpoint = z.strictObject({
  url: text(MAX_URL_CHARACTERS),
  events: events.default([]),
  program_id: id.nullish(),
  environment: environment.nullish(),
  description: description.nullish(),
});

const changeEndpoint = z
  .strictObject({
    url: text(MAX_URL_CHARACTERS).optional(),
    events: events.optional(),
    description: description.optional(),
    active: z.boolean().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something');

const deliveryQuery = z.object({
  status: z.enum(['pending', 'delivered', 'failed']).optional(),
  event: event.optional(),
  ...page,
});

export function webhookEndpointRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/webhook-endpoints',
    developerMutation(deps, 'create_webhook_endpoint', async (request) => {
      const body = parseBody(request, createEndpoint);
      if (isRefused(body)) return body;
      const { developerId } = sessionOf(request);
      const programIds = await listProgramIds(deps.database, developerId);
      const programId = body.program_id ?? undefined;
      if (programId !== undefined && !programIds.includes(programId)) return notFound();
      const created = await deps.webhook.createEndpoint(
        {
          developerId,
          programIds,
          url: body.url,
          events: body.events,
          programId,
          environment: body.environment ?? Environment.UNSPECIFIED,
          description: body.description ?? '',
        },
        callOptions(request),
      );
      return isRefused(created) ? created : answerWithSecret(201, created);
    }),
  );

  router.get(
    '/webhook-endpoints',
    route(async (request) => {
      const { developerId } = sessionOf(request);
      const listed = await deps.webhook.listEndpoints({ developerId }, callOptions(request));
      return isRefused(listed) ? listed : { status: 200, body: { data: listed.endpoints.map(presentEndpoint) } };
    }),
  );

  router.get(
    '/webhook-endpoints/:endpointId',
    route(async (request) => {
      const endpoint = endpointOf(request);
      return endpoint === null ? notFound() : answer(await deps.webhook.getEndpoint(endpoint, callOptions(request)));
    }),
  );

  router.patch(
    '/webhook-endpoints/:endpointId',
    developerMutation(deps, 'change_webhook_endpoint', async (request) => {
      const endpoint = endpointOf(request);
      const body = parseBody(request, changeEndpoint);
      if (isRefused(body)) return body;
      if (endpoint === null) return notFound();
      const { url, active } = body;
      const subscription = body.events && { events: body.events };
      const change = { ...endpoint, url, events: subscription, description: body.description, active };
      const changed = answer(await deps.webhook.updateEndpoint(change, callOptions(request)));
      return isRefused(changed) ? changed : { ...changed, logged: { changed: Object.keys(body), active } };
    }),
  );

  router.delete(
    '/webhook-endpoints/:endpointId',
    developerMutation(deps, 'delete_webhook_endpoint', async (request) => {
      const endpoint = endpointOf(request);
      if (endpoint === null) return notFound();
      const deleted = await deps.webhook.deleteEndpoint(endpoint, callOptions(request));
      return isRefused(deleted) ? deleted : { status: 204 };
    }),
  );

  router.post(
    '/webhook-endpoints/:endpointId/rotate-secret',
    developerMutation(deps, 'rotate_webhook_secret', async (request) => {
      const endpoint = endpointOf(request);
      if (endpoint === null) return notFound();
      const rotated = await deps.webhook.rotateSecret(endpoint, callOptions(request));
      return isRefused(rotated) ? rotated : answerWithSecret(200, rotated);
    }),
  );

  router.post(
    '/webhook-endpoints/:endpointId/test',
    developerMutation(deps, 'send_test_webhook', async (request) => {
      const endpoint = endpointOf(request);
      if (endpoint === null) return notFound();
      const sent = await deps.webhook.sendTest(endpoint, callOptions(request));
      if (isRefused(sent)) return sent;
      const { deliveryId } = sent;
      return { status: 202, body: { delivery_id: deliveryId }, logged: { deliveryId } };
    }),
  );

  router.get(
    '/webhook-endpoints/:endpointId/deliveries',
    route(async (request) => {
      const endpoint = endpointOf(request);
      const query = parseQuery(request, deliveryQuery);
      if (isRefused(query)) return query;
      if (endpoint === null) return notFound();
      const listed = await deps.webhook.listDeliveries(
        {
          ...endpoint,
          status: query.status === undefined ? DeliveryStatus.UNSPECIFIED : DELIVERY_STATUSES[query.status],
          event: query.event ?? '',
          limit: query.limit ?? PAGE_LIMIT,
          cursor: query.cursor ?? '',
        },
        callOptions(request),
      );
      if (isRefused(listed)) return listed;
      const data = listed.deliveries.map(presentDelivery);
      return { status: 200, body: { data, next_cursor: listed.nextCursor || null } };
    }),
  );
}

/** The endpoint of the path, as its developer's; null when the path holds no id. */
function endpointOf(request: Parameters<typeof sessionOf>[0]): { developerId: string; endpointId: string } | null {
  const endpointId = pathId(request, 'endpointId');
  return endpointId === null ? null : { developerId: sessionOf(request).developerId, endpointId };
}

function answer(response: { readonly endpoint: Endpoint | undefined } | Refused): Answer | Refused {
  return isRefused(response) ? response : { status: 200, body: presentEndpoint(present(response.endpoint)) };
}

function answerWithSecret(
  status: number,
  made: { readonly endpoint: Endpoint | undefined; readonly signingSecret: string },
): Answer {
  return { status, body: { ...presentEndpoint(present(made.endpoint)), signing_secret: made.signingSecret } };
}
