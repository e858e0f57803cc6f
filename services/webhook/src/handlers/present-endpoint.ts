/** Maps endpoints to messages, which never contain the secret. */
import { Environment } from '@laurel/proto/common';
import { ENVIRONMENTS } from '@laurel/proto/enum-names';
import type { Endpoint as EndpointMessage } from '@laurel/proto/webhook';
import type * as domain from '../domain/endpoint.ts';

export function presentEndpoint(endpoint: domain.Endpoint): EndpointMessage {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: [...endpoint.events],
    programId: endpoint.programId ?? undefined,
    environment: endpoint.environment === null ? Environment.UNSPECIFIED : ENVIRONMENTS[endpoint.environment],
    description: endpoint.description,
    active: endpoint.isActive,
    createdAt: endpoint.createdAt,
  };
}
