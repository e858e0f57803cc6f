import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { after, NOW, ROUND, TERMS, TOURNAMENT } from './example.ts';
import { isLongEnough, MIN_ROUND_MS } from './round-length.ts';
import { decideRound, nextRound } from './round-opening.ts';
import { acceptsScores, entriesOpen } from './round-status.ts';

const MINUTE_MS = 60_000;
const FACTS = { tournament: TOURNAMENT, hasOpenRound: false, id: ROUND.id, number: 1, now: NOW };

test.each([
  ['eleven minutes from now', 0, 11 * MINUTE_MS, true],
  ['a millisecond less', 0, 11 * MINUTE_MS - 1, false],
  ['ten minutes', 0, 10 * MINUTE_MS, false],
  ['a minute', 0, MINUTE_MS, false],
  ['eleven minutes from its opening in an hour', 60 * MINUTE_MS, 71 * MINUTE_MS, true],
  ['ten minutes from its opening in an hour', 60 * MINUTE_MS, 70 * MINUTE_MS, false],
  ['an hour that has passed but for eleven minutes', -49 * MINUTE_MS, 11 * MINUTE_MS, true],
  ['an hour that has passed but for ten minutes', -50 * MINUTE_MS, 10 * MINUTE_MS, false],
])('the length of a round: %s', (_what, opensInMs, closesInMs, isOpened) => {
  const times = { opensAt: after(opensInMs), closesAt: after(closesInMs) };
  expect(isLongEnough({ ...times, now: NOW })).toBe(isOpened);
  expect(decideRound({ ...FACTS, ...times }).kind).toBe(isOpened ? 'opened' : 'refused');
});

it('every round that opens takes entries for at least a minute, and scores for ten minutes longer', () => {
  const ms = fc.integer({ min: -3 * MIN_ROUND_MS, max: 3 * MIN_ROUND_MS });
  fc.assert(
    fc.property(
      ms,
      ms,
      fc.integer({ min: MIN_ROUND_MS / 1_000, max: 7_200 }),
      (opensIn, closesIn, roundLengthSeconds) => {
        const tournament = { ...TOURNAMENT, terms: { ...TERMS, roundLengthSeconds } };
        const decision = decideRound({ ...FACTS, opensAt: after(opensIn), closesAt: after(closesIn) });
        const rounds = [nextRound({ ...FACTS, tournament }), decision.kind === 'opened' ? decision.round : null];
        for (const round of rounds) {
          if (round === null) continue;
          const first = opensIn > 0 && round.opensAt > NOW ? round.opensAt : NOW;
          for (const sinceMs of [0, MINUTE_MS - 1]) {
            const at = after(sinceMs, first);
            expect(entriesOpen(round, at)).toBe(true);
            expect(acceptsScores(round, after(10 * MINUTE_MS - 1, at))).toBe(true);
          }
        }
      },
    ),
  );
});
