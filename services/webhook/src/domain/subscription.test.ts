import { WEBHOOK_EVENT_TYPES } from '@laurel/events/event-type';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideEvents } from './subscription.ts';

describe('an endpoint’s subscription', () => {
  it('a subscription can hold every type of event, webhook.test included', () => {
    expect(decideEvents(WEBHOOK_EVENT_TYPES)).toEqual(WEBHOOK_EVENT_TYPES);
  });

  it('a subscription holds each type once, in the given order', () => {
    expect(decideEvents([])).toEqual([]);
    expect(decideEvents(['round.settled', 'attempt.settled', 'round.settled'])).toEqual([
      'round.settled',
      'attempt.settled',
    ]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...WEBHOOK_EVENT_TYPES)), (wanted) => {
        expect(decideEvents(wanted)).toEqual([...new Set(wanted)]);
      }),
    );
  });

  it('a subscription with an unknown type is refused', () => {
    for (const other of ['', 'attempt', 'ATTEMPT.SETTLED', 'toString', '*'])
      expect(decideEvents(['attempt.settled', other])).toEqual({
        kind: 'refused',
        code: 'invalid_request',
        message: 'events holds a type that does not exist.',
      });
  });
});
