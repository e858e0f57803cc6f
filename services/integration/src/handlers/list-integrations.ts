/** ListIntegrations: all of a tenant's integrations, newest first, at most 100. */
import { type Handlers, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { IntegrationServiceService } from '@laurel/proto/integration';
import { listIntegrationsOf } from '../repository/integrations.ts';
import { presentIntegration } from './present-integration.ts';

export function listIntegrations({
  database,
}: {
  database: Database;
}): Handlers<IntegrationServiceService>['listIntegrations'] {
  return async (request) => {
    const integrations = await listIntegrationsOf(database, parseTenant(request.tenant));
    return { integrations: integrations.map(presentIntegration) };
  };
}
