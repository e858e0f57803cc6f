/**
 * What can happen, in the words of the contract ("Events"). The type of an event is the name of its payload, with a dot: the proto
 * cannot gain a payload that has no type here.
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

/** Throws on an event without a payload, which nobody may publish. */
export function eventTypeOf(event: Event): EventType {
  if (event.payload === undefined) throw new TypeError(`the event ${event.id} has no payload`);
  return TYPE_OF_PAYLOAD[event.payload.$case];
}

/** The one id of what happened to the source: a repeat of the step that makes the fact makes no second event. */
export function eventIdOf(type: EventType, sourceId: string): string {
  return deriveId(sourceId, `event:${type}`);
}
