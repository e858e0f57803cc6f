/**
 * RetirePreviousSecret: after its commit only the current secret verifies. Without a previous one
 * it changes nothing.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { IntegrationServiceService } from '@laurel/proto/integration';
import { retirePreviousSecret as persist } from '../repository/integrations.ts';
import { presentIntegration } from './present-integration.ts';

export function retirePreviousSecret({
  database,
}: {
  database: Database;
}): Handlers<IntegrationServiceService>['retirePreviousSecret'] {
  return async (request) => {
    const integration = await persist(database, parseTenant(request.tenant), parseId(request.integrationId));
    return integration === null ? refused('not_found') : { integration: presentIntegration(integration) };
  };
}
