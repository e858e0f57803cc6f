/**
 * An endpoint: the URL at which a developer receives events, the types of events, and the rules for
 * both (docs/contract/partner-api.md, "Endpoint registration"). A developer has at most 20. An
 * endpoint that is off gets no new deliveries. No call finds a deleted endpoint; its row stays
 * until the last delivery of its log is deleted.
 */

import { type Refused, refused } from '@laurel/errors';
import type { WebhookEventType } from '@laurel/events/event-type';
import { hasNul, isStorable } from '@laurel/json';
import { MAX_ENDPOINT_DESCRIPTION_CHARACTERS } from '@laurel/values/limits';
import type { Environment } from '@laurel/values/tenant';

export type Endpoint = {
  readonly id: string;
  readonly developerId: string;
  readonly url: string;
  /**
   * Empty means all types. A test event is delivered even if its endpoint does not subscribe to
   * test events.
   */
  readonly events: readonly WebhookEventType[];
  /** Null means all programs of the developer. */
  readonly programId: string | null;
  /** Null means both environments. */
  readonly environment: Environment | null;
  readonly description: string;
  readonly isActive: boolean;
  readonly createdAt: Date;
};

/** The fields that a developer may change; absent fields stay unchanged. */
export type EndpointChange = {
  readonly [Field in 'url' | 'events' | 'description' | 'isActive']: Endpoint[Field] | undefined;
};

export const MAX_ENDPOINTS = 20;

export function decideDescription(text: string): string | Refused {
  if (hasNul(text)) return refused('invalid_request', 'description holds a NUL character.');
  if (isStorable(text, MAX_ENDPOINT_DESCRIPTION_CHARACTERS)) return text;
  return refused('invalid_request', `description may be at most ${MAX_ENDPOINT_DESCRIPTION_CHARACTERS} characters.`);
}

/** Whether the developer may add another endpoint. */
export function decideEndpointLimit(endpointCount: number): Refused | null {
  if (endpointCount < MAX_ENDPOINTS) return null;
  return refused('conflict', `A developer has at most ${MAX_ENDPOINTS} endpoints.`);
}

/**
 * Whether a delivery may be sent to the endpoint, null if there is none. Nothing is delivered to an
 * endpoint that is off, even on request.
 */
export function decideSend(endpoint: Pick<Endpoint, 'isActive'> | null): Refused | null {
  if (endpoint === null) return refused('not_found');
  return endpoint.isActive ? null : refused('conflict', 'The endpoint is off.');
}

export function decideChange(endpoint: Endpoint, change: EndpointChange): Endpoint {
  return {
    ...endpoint,
    url: change.url ?? endpoint.url,
    events: change.events ?? endpoint.events,
    description: change.description ?? endpoint.description,
    isActive: change.isActive ?? endpoint.isActive,
  };
}
