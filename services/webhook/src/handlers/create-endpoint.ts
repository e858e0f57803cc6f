/**
 * CreateEndpoint: a developer registers a URL for events. Only this response shows the signing
 * secret.
 */
import type { UrlCheck } from '@laurel/egress';
import type { Encryption } from '@laurel/encryption';
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseEnvironment, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import type { WebhookServiceService } from '@laurel/proto/webhook';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { decideDescription, decideEndpointLimit, type Endpoint } from '../domain/endpoint.ts';
import { newSigningSecret, secretOwner } from '../domain/signing-secret.ts';
import { parseEventTypes } from '../domain/subscription.ts';
import { countEndpointsOf, insertEndpoint, lockEndpointsOf } from '../repository/endpoints.ts';
import { findDeveloperOf, insertPrograms } from '../repository/programs.ts';
import { presentEndpoint } from './present-endpoint.ts';

export function createEndpoint({
  database,
  encryption,
  checkUrl,
  clock,
}: {
  database: Database;
  encryption: Encryption;
  checkUrl: UrlCheck;
  clock: Clock;
}): Handlers<WebhookServiceService>['createEndpoint'] {
  return async (request) => {
    const developerId = parseId(request.developerId);
    const programIds = request.programIds.map(parseId);
    const programId = request.programId === undefined ? null : parseId(request.programId);
    const environment = request.environment === Environment.UNSPECIFIED ? null : parseEnvironment(request.environment);
    const events = parseEventTypes(request.events);
    if (isRefused(events)) return events;
    const description = decideDescription(request.description);
    if (isRefused(description)) return description;
    const url = await checkUrl(request.url);
    if (isRefused(url)) return url;

    const secret = newSigningSecret();
    const created = await database.transaction(async (tx) => {
      await lockEndpointsOf(tx, developerId);
      await insertPrograms(tx, developerId, programIds);
      if (programId !== null && (await findDeveloperOf(tx, programId)) !== developerId) {
        return refused('invalid_request', "program_id is not one of the developer's programs.");
      }
      const full = decideEndpointLimit(await countEndpointsOf(tx, developerId));
      if (full !== null) return full;
      const createdAt = clock();
      const id = newId(createdAt);
      const endpoint: Endpoint = {
        id,
        developerId,
        url,
        events,
        programId,
        environment,
        description,
        isActive: true,
        createdAt,
      };
      await insertEndpoint(tx, endpoint, encryption.encrypt(secret, secretOwner(id)));
      return endpoint;
    });
    if (isRefused(created)) return created;
    return { endpoint: presentEndpoint(created), signingSecret: secret };
  };
}
