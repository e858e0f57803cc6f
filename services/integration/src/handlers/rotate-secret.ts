/**
 * RotateSecret: from now on the new secret verifies. The secret that it replaces still verifies
 * too, as the only previous one.
 */
import type { Encryption } from '@laurel/encryption';
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { IntegrationServiceService } from '@laurel/proto/integration';
import { decideRotation } from '../domain/integration.ts';
import { newSigningSecret, secretOwner } from '../domain/signing-secret.ts';
import { lockIntegration, rotateSigningSecret } from '../repository/integrations.ts';
import { presentIntegration } from './present-integration.ts';

export function rotateSecret({
  database,
  encryption,
}: {
  database: Database;
  encryption: Encryption;
}): Handlers<IntegrationServiceService>['rotateSecret'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const integrationId = parseId(request.integrationId);
    const secret = newSigningSecret();
    const rotated = await database.transaction(async (tx) => {
      const integration = await lockIntegration(tx, tenant, integrationId);
      if (integration === null) return refused('not_found');
      const wrong = decideRotation(integration);
      if (wrong !== null) return wrong;
      await rotateSigningSecret(tx, integrationId, encryption.encrypt(secret, secretOwner(integrationId)));
      return { ...integration, hasSigningSecret: true };
    });
    if (isRefused(rotated)) return rotated;
    return { integration: presentIntegration(rotated), signingSecret: secret };
  };
}
