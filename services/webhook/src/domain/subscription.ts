/**
 * Which events an endpoint subscribes to (docs/contract/partner-api.md, "Endpoint registration"):
 * an empty list means every event. A statement in repository/consumed-events.ts inserts a delivery
 * for each subscribed endpoint.
 */
import { type Refused, refused } from '@laurel/errors';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '@laurel/events/event-type';

const KNOWN: ReadonlySet<string> = new Set(WEBHOOK_EVENT_TYPES);

/** The subscription without repeats, in the given order. */
export function parseEventTypes(wanted: readonly string[]): readonly WebhookEventType[] | Refused {
  const events = [...new Set(wanted)];
  return events.every(isKnown) ? events : refused('invalid_request', 'events holds a type that does not exist.');
}

function isKnown(text: string): text is WebhookEventType {
  return KNOWN.has(text);
}
