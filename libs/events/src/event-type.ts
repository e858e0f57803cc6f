/**
 * The types of events, by their names in the contract (docs/contract/partner-api.md, "Event
 * types"). A type is the name of its payload, with a dot. A new payload in the proto does not
 * compile without a type here; code with an entry for each type does not compile without the new
 * one.
 */

import type { Event } from '@laurel/proto/events';
import { deriveId } from '@laurel/values/ids';

type PayloadName = NonNullable<Event['payload']>['$case'];

const TYPE_OF_PAYLOAD = {
  attemptSettled: 'attempt.settled',
  attemptRefunded: 'attempt.refunded',
  challengeSuspended: 'challenge.suspended',
  roundSettled: 'round.settled',
  roundCancelled: 'round.cancelled',
  awardReleased: 'award.released',
} as const satisfies Record<PayloadName, string>;

export type EventType = (typeof TYPE_OF_PAYLOAD)[PayloadName];

/** Every type, in the order of the proto. */
export const EVENT_TYPES: readonly EventType[] = Object.values(TYPE_OF_PAYLOAD);

/**
 * The types that webhooks carry and endpoints subscribe to: every event, and the developer's test,
 * which no service publishes.
 */
export const WEBHOOK_EVENT_TYPES = ['webhook.test', ...EVENT_TYPES] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** Throws on an event without a payload, which must not be published. */
export function eventTypeOf(event: Event): EventType {
  if (event.payload === undefined) throw new TypeError(`the event ${event.id} has no payload`);
  return TYPE_OF_PAYLOAD[event.payload.$case];
}

/**
 * The id of the source's event of this type: repeating the step that makes the fact true yields the
 * same id.
 */
export function eventIdOf(type: EventType, sourceId: string): string {
  return deriveId(sourceId, `event:${type}`);
}
