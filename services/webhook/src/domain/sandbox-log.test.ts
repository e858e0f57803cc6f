import { isRefused } from '@laurel/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decidePage, type LoggedEvent, type LogPage } from './sandbox-log.ts';

const event = (position: bigint): LoggedEvent => ({
  position,
  id: `event ${position}`,
  type: 'round.settled',
  body: Buffer.from('{}'),
  createdAt: new Date(0),
});

/** The page after a position, from a log of `last` events of which only `kept` are left. */
function pageOf(last: bigint, kept: readonly bigint[], after: bigint, limit: number): LogPage {
  const events = kept.filter((position) => position > after).slice(0, limit);
  return { lastPosition: last, events: events.map(event) };
}

describe('a page of the sandbox’s log', () => {
  it('a page has the events that follow its cursor without a gap, or is refused', () => {
    const kept = fc.uniqueArray(fc.bigInt({ min: 1n, max: 30n })).map((list) => list.toSorted((a, b) => Number(a - b)));
    fc.assert(
      fc.property(kept, fc.bigInt(0n, 40n), fc.integer({ min: 1, max: 10 }), (positions, after, limit) => {
        const last = 30n;
        const decided = decidePage(after, pageOf(last, positions, after, limit));
        const nextIsKept = positions.includes(after + 1n);
        if (isRefused(decided)) {
          expect(nextIsKept || after === last).toBe(false);
          return;
        }
        expect(decided.events.map(({ position }) => position)).toEqual(
          decided.events.map((_, index) => after + BigInt(index) + 1n),
        );
        expect(decided.next).toBe(after + BigInt(decided.events.length));
        expect(decided.events.length > 0).toBe(nextIsKept);
      }),
    );
  });

  it('a page from the oldest begins with the oldest event that is kept', () => {
    expect(decidePage('oldest', pageOf(5n, [3n, 4n, 5n], 0n, 2))).toMatchObject({ events: [{}, {}], next: 4n });
    expect(decidePage('oldest', pageOf(5n, [], 0n, 2))).toEqual({ events: [], next: 5n });
    expect(decidePage('oldest', pageOf(0n, [], 0n, 2))).toEqual({ events: [], next: 0n });
  });

  it('a page from now is empty, and the next page begins after the newest event', () => {
    expect(decidePage('now', pageOf(5n, [5n], 0n, 2))).toEqual({ events: [], next: 5n });
  });
});
