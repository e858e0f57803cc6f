/** GetEndpoint: one of the developer's own endpoints. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import { findEndpoint } from '../repository/endpoints.ts';
import { presentEndpoint } from './present-endpoint.ts';

export function getEndpoint({ database }: { database: Database }): Handlers<WebhookServiceService>['getEndpoint'] {
  return async (request) => {
    const developerId = parseId(request.developerId);
    const endpointId = parseId(request.endpointId);
    const endpoint = await findEndpoint(database, developerId, endpointId);
    return endpoint === null ? refused('not_found') : { endpoint: presentEndpoint(endpoint) };
  };
}
