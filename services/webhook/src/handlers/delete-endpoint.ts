/**
 * DeleteEndpoint: hides the endpoint and its log from every call, and closes its pending deliveries
 * in the same commit.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import type { Clock } from '@laurel/service';
import { closePending } from '../repository/deliveries.ts';
import { lockEndpointToChange, deleteEndpoint as persist } from '../repository/endpoints.ts';

export function deleteEndpoint({
  database,
  clock,
}: {
  database: Database;
  clock: Clock;
}): Handlers<WebhookServiceService>['deleteEndpoint'] {
  return async (request) => {
    const developerId = parseId(request.developerId);
    const endpointId = parseId(request.endpointId);
    return await database.transaction(async (tx) => {
      const endpoint = await lockEndpointToChange(tx, developerId, endpointId);
      if (endpoint === null) return refused('not_found');
      const now = clock();
      await persist(tx, endpointId, now);
      await closePending(tx, endpointId, now);
      return {};
    });
  };
}
