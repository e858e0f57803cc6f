/** ListEndpoints: all of a developer's endpoints, at most 20. */
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import { listEndpointsOf } from '../repository/endpoints.ts';
import { presentEndpoint } from './present-endpoint.ts';

export function listEndpoints({ database }: { database: Database }): Handlers<WebhookServiceService>['listEndpoints'] {
  return async (request) => {
    const developerId = parseId(request.developerId);
    const endpoints = await listEndpointsOf(database, developerId);
    return { endpoints: endpoints.map(presentEndpoint) };
  };
}
