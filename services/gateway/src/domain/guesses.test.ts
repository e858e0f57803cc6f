import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AFTER_RIGHT, afterWrong, GUESSES, STRANGER, waitOf } from './guesses.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const after = (ms: number) => new Date(NOW.getTime() + ms);
const guessing = (times: number) =>
  Array.from({ length: times }).reduce<typeof STRANGER>((one) => afterWrong(one, NOW), STRANGER);

test('ten wrong operator tokens are free, then each delays the next one, up to a minute', () => {
  const waits = [0, 9, 10, 11, 12, 15, 16, 1_000].map((times) => waitOf(guessing(times), NOW)?.retryAfterSeconds ?? 0);
  expect(waits).toEqual([0, 0, 1, 2, 4, 32, 60, 60]);
});

test('an operator token is compared again after the wait that was answered', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 500 }), (times) => {
      const wait = waitOf(guessing(times), NOW);
      if (wait !== null) expect(waitOf(guessing(times), after(wait.retryAfterSeconds * 1_000))).toBeNull();
    }),
  );
});

test('wrong operator tokens stop counting after a quarter of an hour without one, and after a right token', () => {
  expect(afterWrong(guessing(50), after(GUESSES.windowMs))).toMatchObject({ count: 1 });
  expect(waitOf(AFTER_RIGHT, NOW)).toBeNull();
});
