/**
 * RotateSecret: the new secret signs every later send, retries included; the old one signs none.
 */
import type { Encryption } from '@laurel/encryption';
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import { newSigningSecret, secretOwner } from '../domain/signing-secret.ts';
import { updateSecret } from '../repository/endpoints.ts';
import { presentEndpoint } from './present-endpoint.ts';

export function rotateSecret({
  database,
  encryption,
}: {
  database: Database;
  encryption: Encryption;
}): Handlers<WebhookServiceService>['rotateSecret'] {
  return async (request) => {
    const developerId = parseId(request.developerId);
    const endpointId = parseId(request.endpointId);
    const secret = newSigningSecret();
    const sealed = encryption.encrypt(secret, secretOwner(endpointId));
    const endpoint = await updateSecret(database, developerId, endpointId, sealed);
    return endpoint === null ? refused('not_found') : { endpoint: presentEndpoint(endpoint), signingSecret: secret };
  };
}
