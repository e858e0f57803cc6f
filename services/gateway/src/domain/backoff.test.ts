import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countsThatMatter, delayMs, nextTryAt } from './backoff.ts';

const BACKOFF = { windowMs: 900_000, firstDelayMs: 1_000, maxDelayMs: 60_000 };
const NOW = new Date('2026-11-21T12:00:00.000Z');
const count = fc.integer({ min: 0, max: 1_000 });
const free = fc.integer({ min: 1, max: 200 });

describe('backoff', () => {
  test('the wait doubles from 1 second after 5 failures up to a minute', () => {
    const delays = [0, 4, 5, 6, 7, 10, 11, 12, 1_000].map((failures) => delayMs(failures, 5, BACKOFF) / 1_000);
    expect(delays).toEqual([0, 0, 1, 2, 4, 32, 60, 60, 60]);
  });

  test('backoff waits longer after more failures', () => {
    fc.assert(
      fc.property(count, free, (n, f) => {
        expect(delayMs(n + 1, f, BACKOFF)).toBeGreaterThanOrEqual(delayMs(n, f, BACKOFF));
      }),
    );
  });

  test('the next try is allowed after the longest delay at the latest', () => {
    fc.assert(
      fc.property(count, free, fc.integer({ min: 0, max: 900_000 }), (n, f, agoMs) => {
        const at = nextTryAt({ count: n, newest: new Date(NOW.getTime() - agoMs) }, f, BACKOFF, NOW);
        expect(at.getTime()).toBeGreaterThanOrEqual(NOW.getTime());
        expect(at.getTime()).toBeLessThanOrEqual(NOW.getTime() + BACKOFF.maxDelayMs);
      }),
    );
  });

  test('no wait is needed while failures are free', () => {
    expect(nextTryAt({ count: 4, newest: new Date(NOW.getTime() + 5) }, 5, BACKOFF, NOW)).toEqual(NOW);
  });

  test('failures beyond `countsThatMatter` do not change the delay', () => {
    fc.assert(
      fc.property(count, free, (n, f) => {
        expect(delayMs(Math.min(n, countsThatMatter(f, BACKOFF)), f, BACKOFF)).toBe(delayMs(n, f, BACKOFF));
      }),
    );
  });

  test('a caller that always tries as soon as possible gets at most some 1,400 tries a day', () => {
    const tries: number[] = [];
    for (let now = 0; now < 86_400_000; ) {
      const recent = tries.filter((at) => at > now - BACKOFF.windowMs);
      const newest = recent.at(-1);
      const failures = { count: recent.length, newest: newest === undefined ? null : new Date(newest) };
      const next = nextTryAt(failures, 5, BACKOFF, new Date(now)).getTime();
      if (next === now) tries.push(now);
      now = Math.max(next, now + 1);
    }
    expect(tries.length).toBeLessThan(1_500);
    expect(tries.length).toBeGreaterThan(1_000);
  });
});
