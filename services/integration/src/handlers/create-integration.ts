/**
 * CreateIntegration: creates a draft. A push_webhook gets its signing secret, which only this
 * response shows.
 */
import type { UrlCheck } from '@laurel/egress';
import type { Encryption } from '@laurel/encryption';
import { isRefused } from '@laurel/errors';
import { type Handlers, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { nameOf, TRANSPORTS } from '@laurel/proto/enum-names';
import type { IntegrationServiceService } from '@laurel/proto/integration';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { decideFirstInterval, decideIntegrationLimit, type Integration } from '../domain/integration.ts';
import { decidePullSecret, originOf, pullSecretOwner } from '../domain/pull-secret.ts';
import { newSigningSecret, secretOwner } from '../domain/signing-secret.ts';
import { countIntegrationsOf, insertIntegration, lockIntegrationsOf } from '../repository/integrations.ts';
import { presentIntegration } from './present-integration.ts';
import { readDescriptor } from './read-descriptor.ts';

export function createIntegration({
  database,
  encryption,
  checkUrl,
  clock,
}: {
  database: Database;
  encryption: Encryption;
  checkUrl: UrlCheck;
  clock: Clock;
}): Handlers<IntegrationServiceService>['createIntegration'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const transport = nameOf(TRANSPORTS, request.transport);
    const pullIntervalSeconds = decideFirstInterval(transport, request.pullIntervalSeconds);
    if (isRefused(pullIntervalSeconds)) return pullIntervalSeconds;
    const descriptor = await readDescriptor(request.descriptorJson, transport, checkUrl);
    if (isRefused(descriptor)) return descriptor;
    const pullSecret = decidePullSecret(descriptor.pull, null);
    if (isRefused(pullSecret)) return pullSecret;

    const secret = transport === 'push_webhook' ? newSigningSecret() : null;
    const created = await database.transaction(async (tx) => {
      await lockIntegrationsOf(tx, tenant);
      const full = decideIntegrationLimit(await countIntegrationsOf(tx, tenant));
      if (full !== null) return full;
      const createdAt = clock();
      const id = newId(createdAt);
      const integration: Integration = {
        id,
        tenant,
        transport,
        status: 'draft',
        descriptor: descriptor.text,
        hasSigningSecret: secret !== null,
        hasPullSecret: pullSecret.kind === 'replace',
        pullOrigin: originOf(descriptor.pull),
        pullIntervalSeconds,
        lastPolledAt: null,
        nextPollAt: null,
        consecutiveFailures: 0,
        lastPollError: null,
        createdAt,
      };
      await insertIntegration(tx, integration, {
        signing: secret === null ? null : encryption.encrypt(secret, secretOwner(id)),
        pull: pullSecret.kind === 'replace' ? encryption.encrypt(pullSecret.secret, pullSecretOwner(id)) : null,
      });
      return integration;
    });
    if (isRefused(created)) return created;
    return { integration: presentIntegration(created), signingSecret: secret ?? '' };
  };
}
