/**
 * Moves the endpoints' signing secrets to the current key after a change of WEBHOOK_SECRET_KEY. The
 * secrets themselves stay the same.
 */
import type { Encryption } from '@laurel/encryption';
import type { Database } from '@laurel/postgres';
import { createReencryptSecrets as createWorker, type Logger } from '@laurel/service';
import { secretOwner } from '../domain/signing-secret.ts';
import {
  countSecretsByKeyVersion,
  type EndpointSecret,
  findSecretsUnder,
  replaceSecrets,
} from '../repository/reencrypt-endpoint-secrets.ts';

export function createReencryptSecrets(options: {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly logger: Logger;
}): ReturnType<typeof createWorker<EndpointSecret>> {
  const { database, encryption, logger } = options;
  return createWorker<EndpointSecret>({
    encryption,
    store: {
      countByKeyVersion: () => countSecretsByKeyVersion(database),
      findUnder: (versions, afterId, limit) => findSecretsUnder(database, versions, afterId, limit),
      mapSecrets: ({ id, secret }, replace) => ({ id, secret: replace(secret, secretOwner(id)) }),
      replace: (rows) => replaceSecrets(database, rows),
    },
    logger,
  });
}
