/**
 * UpdateIntegration: changes the fields that the request has. Activating a pull_poll makes its poll
 * due. The commit that ends the status `active` also ensures that no poll is due any more.
 */
import type { UrlCheck } from '@laurel/egress';
import type { Encryption } from '@laurel/encryption';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { INTEGRATION_STATUSES, nameOf } from '@laurel/proto/enum-names';
import { type IntegrationServiceService, IntegrationStatus } from '@laurel/proto/integration';
import type { Clock } from '@laurel/service';
import { type Pull, parseDescriptorText } from '../domain/descriptor.ts';
import { decideChange, type Integration, type IntegrationChange } from '../domain/integration.ts';
import {
  cursorStaysValid,
  decidePullSecret,
  originOf,
  pullSecretOwner,
  type SecretChange,
} from '../domain/pull-secret.ts';
import { findIntegration, lockIntegration, updateIntegration as persist } from '../repository/integrations.ts';
import { presentIntegration } from './present-integration.ts';
import { readDescriptor } from './read-descriptor.ts';

const KEPT = { startsOver: false, secret: { kind: 'keep' } } as const;

export function updateIntegration({
  database,
  encryption,
  checkUrl,
  clock,
}: {
  database: Database;
  encryption: Encryption;
  checkUrl: UrlCheck;
  clock: Clock;
}): Handlers<IntegrationServiceService>['updateIntegration'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const id = parseId(request.integrationId);
    const { status, pullIntervalSeconds } = request;
    // An integration that does not exist is not_found, whatever the request holds, before any name
    // is resolved.
    const found = await findIntegration(database, tenant, id);
    if (found === null) return refused('not_found');
    // The transport never changes, so the transport of the unlocked row is still right.
    const descriptor =
      request.descriptorJson === undefined
        ? undefined
        : await readDescriptor(request.descriptorJson, found.transport, checkUrl);
    if (isRefused(descriptor)) return descriptor;
    const change: IntegrationChange = {
      status: status === IntegrationStatus.UNSPECIFIED ? undefined : nameOf(INTEGRATION_STATUSES, status),
      pullIntervalSeconds,
      descriptor: descriptor && { text: descriptor.text, pullOrigin: originOf(descriptor.pull) },
    };

    const changed = await database.transaction(async (tx) => {
      const integration = await lockIntegration(tx, tenant, id);
      if (integration === null) return refused('not_found');
      const decided = decideChange(integration, change, clock());
      if (isRefused(decided)) return decided;
      const pull = descriptor === undefined ? KEPT : decidePull(integration, descriptor.pull);
      if (isRefused(pull)) return pull;
      const { startsOver, secret } = pull;
      await persist(tx, decided, { startsOver, pullSecret: sealed(secret) });
      return decided;
    });
    return isRefused(changed) ? changed : { integration: presentIntegration(changed) };

    function sealed(change: SecretChange): Buffer | null | undefined {
      if (change.kind === 'replace') return encryption.encrypt(change.secret, pullSecretOwner(id));
      return change.kind === 'remove' ? null : undefined;
    }
  };
}

/** How a new descriptor changes the polls. */
function decidePull(
  { descriptor, transport, hasPullSecret }: Integration,
  next: Pull | null,
): { readonly startsOver: boolean; readonly secret: SecretChange } | Refused {
  const parsed = parseDescriptorText(descriptor, transport);
  // A descriptor that was stored under older rules may be unreadable. It is replaced like any
  // other, and nothing of it is kept.
  const before = isRefused(parsed) ? null : parsed.pull;
  const secret = decidePullSecret(next, hasPullSecret ? before : null);
  return isRefused(secret) ? secret : { startsOver: !cursorStaysValid(before, next), secret };
}
