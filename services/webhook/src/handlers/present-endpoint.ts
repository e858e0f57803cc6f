/** Endpoints, from the words of the domain to messages. The secret is no part of them. */
import { Environment } from '@laurel/proto/common';
import type { Endpoint as EndpointMessage } from '@laurel/proto/webhook';
import type * as domain from '../domain/endpoint.ts';

const ENVIRONMENT: Record<domain.Environment, Environment> = { test: Environment.TEST, live: Environment.LIVE };

export function presentEndpoint(endpoint: domain.Endpoint): EndpointMessage {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: [...endpoint.events],
    programId: endpoint.programId ?? undefined,
    environment: endpoint.environment === null ? Environment.UNSPECIFIED : ENVIRONMENT[endpoint.environment],
    description: endpoint.description,
    active: endpoint.isActive,
    createdAt: endpoint.createdAt,
  };
}
