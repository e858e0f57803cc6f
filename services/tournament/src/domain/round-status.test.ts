import { isRefused, type Refused } from '@laurel/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { after, HOUR_MS, NOW, ROUND } from './example.ts';
import {
  acceptsScores,
  cancelRound,
  canMoveRound,
  closeEarly,
  closeEntriesEarly,
  decideClose,
  entriesCloseAt,
  entriesOpen,
  isCloseDue,
  shownRoundStatus,
} from './round-status.ts';
import type { Round, RoundStatus } from './tournament.ts';

const STATUSES: readonly RoundStatus[] = ['open', 'settling', 'settled', 'cancelling', 'cancelled'];
const NOT_OPEN = STATUSES.filter((status) => status !== 'open');
const TEN_MINUTES_MS = 600_000;

describe('a round', () => {
  it('a round moves only forward, from open to settled or to cancelled', () => {
    const moves = STATUSES.flatMap((from) =>
      STATUSES.filter((to) => canMoveRound(from, to)).map((to) => `${from} -> ${to}`),
    );
    expect(moves).toEqual(['open -> settling', 'open -> cancelling', 'settling -> settled', 'cancelling -> cancelled']);
  });

  it('a round is shown as cancelled as soon as its cancellation is decided', () => {
    expect(STATUSES.map(shownRoundStatus)).toEqual(['open', 'settling', 'settled', 'cancelled', 'cancelled']);
  });

  it('a round takes entries from its opening until ten minutes before its end', () => {
    const { opensAt, closesAt } = ROUND;
    expect(entriesCloseAt(ROUND)).toEqual(after(-TEN_MINUTES_MS, closesAt));
    expect([after(-1, opensAt), opensAt].map((now) => entriesOpen(ROUND, now))).toEqual([false, true]);
    const last = after(-TEN_MINUTES_MS - 1, closesAt);
    expect([last, after(1, last)].map((now) => entriesOpen(ROUND, now))).toEqual([true, false]);
    for (const status of NOT_OPEN) expect(entriesOpen({ ...ROUND, status }, NOW)).toBe(false);
  });

  it('a round takes scores until its end, and is over from that instant on', () => {
    const last = after(-1, ROUND.closesAt);
    expect([last, ROUND.closesAt].map((now) => acceptsScores(ROUND, now))).toEqual([true, false]);
    expect([last, ROUND.closesAt].map((now) => isCloseDue(ROUND, now))).toEqual([false, true]);
    for (const status of NOT_OPEN) {
      expect(acceptsScores({ ...ROUND, status }, NOW)).toBe(false);
      expect(isCloseDue({ ...ROUND, status }, ROUND.closesAt)).toBe(false);
    }
  });

  it('a round of less than ten minutes takes no entries', () => {
    const short = { ...ROUND, opensAt: NOW, closesAt: after(TEN_MINUTES_MS - 1) };
    expect(entriesCloseAt(short)).toEqual(NOW);
    fc.assert(
      fc.property(fc.nat(2 * HOUR_MS), fc.integer({ min: -HOUR_MS, max: 3 * HOUR_MS }), (lengthMs, ms) => {
        const times = { opensAt: NOW, closesAt: after(lengthMs) };
        const round = { ...ROUND, ...times, entriesCloseAt: entriesCloseAt(times) };
        expect(round.entriesCloseAt >= round.opensAt && round.entriesCloseAt <= round.closesAt).toBe(true);
        // An account that may enter has at least ten minutes to score.
        if (entriesOpen(round, after(ms))) expect(acceptsScores(round, after(ms + TEN_MINUTES_MS - 1))).toBe(true);
      }),
    );
  });
});

describe('an invalid instant', () => {
  it('every rule on the times of a round throws for an invalid Date', () => {
    const invalid = new Date(Number.NaN);
    const rules = [acceptsScores, isCloseDue, entriesOpen, closeEntriesEarly, closeEarly];
    for (const rule of rules) {
      expect(() => rule(ROUND, invalid)).toThrow(RangeError);
      const times = { opensAt: invalid, entriesCloseAt: invalid, closesAt: invalid };
      expect(() => rule({ ...ROUND, ...times }, NOW)).toThrow(RangeError);
    }
    expect(() => entriesCloseAt({ opensAt: NOW, closesAt: invalid })).toThrow(RangeError);
  });
});

describe('the end of a round', () => {
  const gates = (minEntrants: number, minScoredAttempts: number) => ({
    cancellation: null,
    terms: { minEntrants, minScoredAttempts },
  });
  const terms = gates(2, 3);

  it('a round that ends with enough entrants and scored attempts is settled, and otherwise cancelled', () => {
    expect(decideClose({ scoredPlayers: 2, scoredAttempts: 3 }, terms)).toBe('settling');
    expect(decideClose({ scoredPlayers: 1, scoredAttempts: 3 }, terms)).toBe('cancelling');
    expect(decideClose({ scoredPlayers: 2, scoredAttempts: 2 }, terms)).toBe('cancelling');
    expect(decideClose({ scoredPlayers: 0, scoredAttempts: 0 }, gates(1, 0))).toBe('cancelling');
    expect(decideClose({ scoredPlayers: 1, scoredAttempts: 0 }, gates(1, 0))).toBe('settling');
  });

  it('more entrants or more scores never change the end of a round from settled to cancelled', () => {
    const count = fc.nat(5);
    fc.assert(
      fc.property(
        count,
        count,
        count,
        count,
        count,
        count,
        (entrants, scored, more, moreScored, least, leastScored) => {
          const terms = gates(least, leastScored);
          if (decideClose({ scoredPlayers: entrants, scoredAttempts: scored }, terms) === 'cancelling') return;
          const grown = { scoredPlayers: entrants + more, scoredAttempts: scored + moreScored };
          expect(decideClose(grown, terms)).toBe('settling');
        },
      ),
    );
  });
});

describe('an operator who cancels a round', () => {
  const cancellation = { at: NOW, by: 'ada', reason: 'a broken game' };

  it('a round that an operator cancels is over at once and never settles', () => {
    const count = fc.nat(5);
    const instant = fc.integer({ min: -3 * HOUR_MS, max: 3 * HOUR_MS }).map((ms) => after(ms));
    fc.assert(
      fc.property(instant, instant, count, count, (at, later, scoredPlayers, scoredAttempts) => {
        const round = decided(cancelRound(ROUND, { ...cancellation, at }));
        expect(round).toMatchObject({ status: 'open', cancellation: { ...cancellation, at } });
        const end = Math.max(at.getTime(), ROUND.opensAt.getTime());
        expect(round.closesAt.getTime()).toBe(Math.min(end, ROUND.closesAt.getTime()));
        expect(round.entriesCloseAt.getTime()).toBe(Math.min(end, ROUND.entriesCloseAt.getTime()));
        expect(isCloseDue(round, later)).toBe(true);
        expect(decideClose({ scoredPlayers, scoredAttempts }, round)).toBe('cancelling');
        if (later >= at) expect(entriesOpen(round, later)).toBe(false);
        if (later.getTime() >= end) expect(acceptsScores(round, later)).toBe(false);
      }),
    );
  });

  it('the cancellation of a round whose end is decided is refused with that decision', () => {
    const conflict = (message: string) => ({ kind: 'refused', code: 'conflict', message });
    const refusals = NOT_OPEN.map((status) => cancelRound({ ...ROUND, status }, cancellation));
    expect(refusals).toEqual([
      conflict('The round has ended, and its payouts are under way.'),
      conflict('The round is settled.'),
      conflict('The round was cancelled at its end.'),
      conflict('The round was cancelled at its end.'),
    ]);
    for (const status of ['open', 'cancelling', 'cancelled'] as const) {
      const again = cancelRound({ ...ROUND, status, cancellation }, { ...cancellation, by: 'bob', reason: 'no' });
      expect(again).toEqual(conflict('The round was cancelled by ada: a broken game'));
    }
  });

  function decided(round: Round | Refused): Round {
    if (isRefused(round)) throw new Error(round.message);
    return round;
  }
});

describe('the sandbox', () => {
  it('the sandbox can move the end of entries, or of the round, to now', () => {
    expect(closeEntriesEarly(ROUND, NOW)).toEqual({ ...ROUND, entriesCloseAt: NOW });
    expect(closeEarly(ROUND, NOW)).toEqual({ ...ROUND, entriesCloseAt: NOW, closesAt: NOW });
    const last = after(-1, ROUND.closesAt);
    expect(closeEarly(ROUND, last)).toEqual({ ...ROUND, closesAt: last });
  });

  it('the sandbox cannot move the end of a round that is over', () => {
    expect(closeEntriesEarly(ROUND, ROUND.entriesCloseAt)).toBe(ROUND);
    expect(closeEarly(ROUND, ROUND.closesAt)).toBe(ROUND);
    for (const status of ['settling', 'cancelling'] as const) {
      const ending = { ...ROUND, status };
      expect(closeEarly(ending, NOW)).toBe(ending);
    }
  });

  it('the sandbox does not end a round that has not begun or is over', () => {
    const conflict = { kind: 'refused', code: 'conflict' };
    const before = after(-1, ROUND.opensAt);
    expect(closeEntriesEarly(ROUND, before)).toMatchObject(conflict);
    expect(closeEarly(ROUND, before)).toMatchObject(conflict);
    for (const status of NOT_OPEN) expect(closeEntriesEarly({ ...ROUND, status }, NOW)).toMatchObject(conflict);
    for (const status of ['settled', 'cancelled'] as const) {
      expect(closeEarly({ ...ROUND, status }, NOW)).toMatchObject(conflict);
    }
  });
});
