/**
 * What can happen, in the words of the contract ("Events"). The type of an event is the name of its payload, with a dot: the proto
 * cannot gain a payload that has no type here, and whoever has something for each type does not compile until it has it for the new one.
 */
import { deriveId } from '@laurel/ids';
import type { Event } from '@laurel/proto/events';

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

/** What a webhook carries and an endpoint subscribes to: every event, and the test that a developer sends, which nobody publishes. */
export const WEBHOOK_EVENT_TYPES = ['webhook.test', ...EVENT_TYPES] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** Throws on an event without a payload, which nobody may publish. */
export function eventTypeOf(event: Event): EventType {
  if (event.payload === undefined) throw new TypeError(`the event ${event.id} has no payload`);
  return TYPE_OF_PAYLOAD[event.payload.$case];
}

/** The one id of what happened to the source: a repeat of the step that makes the fact makes no second event. */
export function eventIdOf(type: EventType, sourceId: string): string {
  return deriveId(sourceId, `event:${type}`);
}
