/**
 * An endpoint: where a developer wants events to go, which of them, and what may be said about it (portal API, "Endpoint registration
 * fields"). A developer has at most 20. One that is off gets nothing new; one that was deleted is gone for everybody but its log's age.
 */
import { type Refused, refused } from '@laurel/errors';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '@laurel/events/event-type';

export type Environment = 'test' | 'live';

/** Whose event it is. */
export type Tenant = { readonly programId: string; readonly environment: Environment };

export type Endpoint = {
  readonly id: string;
  readonly developerId: string;
  readonly url: string;
  /** Empty means every one. A test goes to its endpoint whether or not it is subscribed to. */
  readonly events: readonly WebhookEventType[];
  /** Null means all programs of the developer. */
  readonly programId: string | null;
  /** Null means both. */
  readonly environment: Environment | null;
  readonly description: string;
  readonly isActive: boolean;
  readonly createdAt: Date;
};

/** What a developer may change later; what is absent stays. */
export type EndpointChange = {
  readonly [Field in 'url' | 'events' | 'description' | 'isActive']: Endpoint[Field] | undefined;
};

export const MAX_ENDPOINTS = 20;
const MAX_DESCRIPTION = 1_000;

const KNOWN: ReadonlySet<string> = new Set(WEBHOOK_EVENT_TYPES);

/** The subscription without repeats, in the order in which it was given. */
export function decideEvents(wanted: readonly string[]): readonly WebhookEventType[] | Refused {
  const events = [...new Set(wanted)];
  return events.every(isKnown) ? events : refused('invalid_request', 'events holds a type that does not exist.');
}

/** Counted as PostgreSQL counts: by code point. */
export function decideDescription(text: string): string | Refused {
  if (text.includes('\0')) return refused('invalid_request', 'description holds a NUL character.');
  if ([...text].length <= MAX_DESCRIPTION) return text;
  return refused('invalid_request', `description may be at most ${MAX_DESCRIPTION} characters.`);
}

/** Whether one more fits beside those that the developer has. */
export function decideRoom(endpointCount: number): Refused | null {
  if (endpointCount < MAX_ENDPOINTS) return null;
  return refused('conflict', `A developer has at most ${MAX_ENDPOINTS} endpoints.`);
}

/** Nothing is delivered to an endpoint that is off, on request neither. */
export function decideSend({ isActive }: Pick<Endpoint, 'isActive'>): Refused | null {
  return isActive ? null : refused('conflict', 'The endpoint is off.');
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

function isKnown(text: string): text is WebhookEventType {
  return KNOWN.has(text);
}
