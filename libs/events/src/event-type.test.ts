import { randomUUID } from 'node:crypto';
import { isUuid } from '@laurel/values/ids';
import { expect, test } from 'vitest';
import { EVENT_TYPES, eventIdOf, eventTypeOf, WEBHOOK_EVENT_TYPES } from './event-type.ts';
import { newEvent } from './events.fixture.ts';

test('the types of events are those of the contract', () => {
  expect(WEBHOOK_EVENT_TYPES).toEqual([
    'webhook.test',
    'attempt.settled',
    'attempt.refunded',
    'challenge.suspended',
    'round.settled',
    'round.cancelled',
    'award.released',
  ]);
});

test('the type of an event is that of its payload', () => {
  expect(eventTypeOf(newEvent())).toBe('challenge.suspended');
  expect(() => eventTypeOf(newEvent({ payload: undefined }))).toThrow(TypeError);
});

test('the event id depends only on the type of the event and its source', () => {
  const sourceId = randomUUID();
  const ids = EVENT_TYPES.map((type) => eventIdOf(type, sourceId));
  expect(ids.every(isUuid)).toBe(true);
  expect(new Set(ids).size).toBe(EVENT_TYPES.length);
  expect(EVENT_TYPES.map((type) => eventIdOf(type, sourceId))).toEqual(ids);
});
