/**
 * Moves the integrations' secrets to the current key after a change of INTEGRATION_SECRET_KEY. The
 * secrets themselves stay the same.
 */
import type { Encryption } from '@laurel/encryption';
import type { Database } from '@laurel/postgres';
import { createReencryptSecrets as createWorker, type Logger } from '@laurel/service';
import { pullSecretOwner } from '../domain/pull-secret.ts';
import { secretOwner } from '../domain/signing-secret.ts';
import {
  countSecretsByKeyVersion,
  findSecretsUnder,
  type IntegrationSecrets,
  replaceSecrets,
} from '../repository/reencrypt-integration-secrets.ts';

export function createReencryptSecrets(options: {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly logger: Logger;
}): ReturnType<typeof createWorker<IntegrationSecrets>> {
  const { database, encryption, logger } = options;
  return createWorker<IntegrationSecrets>({
    encryption,
    store: {
      countByKeyVersion: () => countSecretsByKeyVersion(database),
      findUnder: (versions, afterId, limit) => findSecretsUnder(database, versions, afterId, limit),
      mapSecrets: ({ id, signing, previousSigning, pull }, replace) => ({
        id,
        signing: signing && replace(signing, secretOwner(id)),
        previousSigning: previousSigning && replace(previousSigning, secretOwner(id)),
        pull: pull && replace(pull, pullSecretOwner(id)),
      }),
      replace: (rows) => replaceSecrets(database, rows),
    },
    logger,
  });
}
