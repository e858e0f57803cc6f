/**
 * UpdateEndpoint: changes the fields that the request has. Switching the endpoint off fails its
 * pending deliveries in the same commit.
 */
import type { UrlCheck } from '@laurel/egress';
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import type { Clock } from '@laurel/service';
import { decideChange, decideDescription } from '../domain/endpoint.ts';
import { parseEventTypes } from '../domain/subscription.ts';
import { closePending } from '../repository/deliveries.ts';
import { findEndpoint, lockEndpointToChange, updateEndpoint as persist } from '../repository/endpoints.ts';
import { presentEndpoint } from './present-endpoint.ts';

export function updateEndpoint({
  database,
  checkUrl,
  clock,
}: {
  database: Database;
  checkUrl: UrlCheck;
  clock: Clock;
}): Handlers<WebhookServiceService>['updateEndpoint'] {
  return async (request) => {
    const developerId = parseId(request.developerId);
    const endpointId = parseId(request.endpointId);
    // An endpoint that does not exist is not_found, whatever the request holds, before any name is
    // resolved.
    if ((await findEndpoint(database, developerId, endpointId)) === null) return refused('not_found');
    const events = request.events === undefined ? undefined : parseEventTypes(request.events.events);
    if (isRefused(events)) return events;
    const description = request.description === undefined ? undefined : decideDescription(request.description);
    if (isRefused(description)) return description;
    const url = request.url === undefined ? undefined : await checkUrl(request.url);
    if (isRefused(url)) return url;

    const changed = await database.transaction(async (tx) => {
      const endpoint = await lockEndpointToChange(tx, developerId, endpointId);
      if (endpoint === null) return null;
      const decided = decideChange(endpoint, { url, events, description, isActive: request.active });
      await persist(tx, decided);
      if (!decided.isActive) await closePending(tx, endpointId, clock());
      return decided;
    });
    return changed === null ? refused('not_found') : { endpoint: presentEndpoint(changed) };
  };
}
