import { WEBHOOK_EVENT_TYPES } from '@laurel/events/event-type';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEventTypes } from './subscription.ts';

describe('an endpoint’s subscription', () => {
  it('a subscription can hold every type of event, webhook.test included', () => {
    expect(parseEventTypes(WEBHOOK_EVENT_TYPES)).toEqual(WEBHOOK_EVENT_TYPES);
  });

  it('a subscription holds each type once, in the given order', () => {
    expect(parseEventTypes([])).toEqual([]);
    expect(parseEventTypes(['round.settled', 'attempt.settled', 'round.settled'])).toEqual([
      'round.settled',
      'attempt.settled',
    ]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...WEBHOOK_EVENT_TYPES)), (wanted) => {
        expect(parseEventTypes(wanted)).toEqual([...new Set(wanted)]);
      }),
    );
  });

  it('a subscription with an unknown type is refused', () => {
    for (const other of ['', 'attempt', 'ATTEMPT.SETTLED', 'toString', '*'])
      expect(parseEventTypes(['attempt.settled', other])).toEqual({
        kind: 'refused',
        code: 'invalid_request',
        message: 'events holds a type that does not exist.',
      });
  });
});
