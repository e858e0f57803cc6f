/** After a change of INTEGRATION_SECRET_KEY: the integrations' secrets move to the current key. The secrets themselves stay the same. */
import { type Encryption, UnknownKeyError } from '@laurel/encryption';
import type { Database } from '@laurel/postgres';
import { createReencryptSecrets as createWorker, type Logger } from '@laurel/service';
import { pullSecretOwner } from '../domain/pull-secret.ts';
import { secretOwner } from '../domain/signing-secret.ts';
import {
  countSecretsByKeyVersion,
  findSecretsUnder,
  type IntegrationSecrets,
  replaceSecrets,
} from '../repository/integration-secrets.ts';

export function createReencryptSecrets(options: {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly logger: Logger;
}): ReturnType<typeof createWorker<IntegrationSecrets>> {
  const { database, encryption, logger } = options;
  const moved = (secret: Buffer | null, owner: string) =>
    secret === null ? null : (encryption.reencrypt(secret, owner) ?? secret);

  const open = (secret: Buffer | null, owner: string) => {
    try {
      if (secret !== null) encryption.decrypt(secret, owner);
    } catch (error) {
      if (!(error instanceof UnknownKeyError)) throw error;
    }
  };

  return createWorker<IntegrationSecrets>({
    versions: encryption.versions,
    store: {
      countByKeyVersion: () => countSecretsByKeyVersion(database),
      findUnder: (versions, afterId, limit) => findSecretsUnder(database, versions, afterId, limit),
      open: ({ id, signing, previousSigning, pull }) => {
        open(signing, secretOwner(id));
        open(previousSigning, secretOwner(id));
        open(pull, pullSecretOwner(id));
      },
      reencrypt: ({ id, signing, previousSigning, pull }) => ({
        id,
        signing: moved(signing, secretOwner(id)),
        previousSigning: moved(previousSigning, secretOwner(id)),
        pull: moved(pull, pullSecretOwner(id)),
      }),
      replace: (rows) => replaceSecrets(database, rows),
    },
    logger,
  });
}
