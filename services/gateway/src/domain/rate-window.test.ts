import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countRequests, remainingAt, retryAfterSeconds, WINDOW_MS } from './rate-window.ts';

test('a new minute starts a new rate window', () => {
  const first = countRequests(undefined, 59_999, 1);
  expect(first).toEqual({ startedAt: 0, requests: 1 });
  expect(countRequests(first, 59_999, 2)).toEqual({ startedAt: 0, requests: 3 });
  expect(countRequests(first, 60_000, 1)).toEqual({ startedAt: 60_000, requests: 1 });
});

test('a request of an instant before the rate window counts in that window', () => {
  expect(countRequests({ startedAt: 60_000, requests: 7 }, 59_999, 1)).toEqual({ startedAt: 60_000, requests: 8 });
});

test('a rate window accepts its limit of requests and no more', () => {
  expect(remainingAt(300, 300)).toBe(0);
  expect(remainingAt(301, 300)).toBeLessThan(0);
});

test('a caller that waits for `Retry-After` is counted in the next rate window', () => {
  fc.assert(
    fc.property(fc.nat(10 * WINDOW_MS), (now) => {
      const endsAt = now - (now % WINDOW_MS) + WINDOW_MS;
      const seconds = retryAfterSeconds(endsAt, now);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(now + seconds * 1_000).toBeGreaterThanOrEqual(endsAt);
      expect(seconds).toBeLessThanOrEqual(60);
    }),
  );
});

test('a rate window accepts exactly its limit, for any division of the requests into batches', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 300 }),
      (batches, limit) => {
        let accepted = 0;
        let window = countRequests(undefined, 0, 0);
        for (const wanted of batches) {
          const before = window.requests;
          window = countRequests(window, 1_000, wanted);
          for (let index = 1; index <= wanted; index += 1) if (remainingAt(before + index, limit) >= 0) accepted += 1;
        }
        expect(accepted).toBe(Math.min(limit, window.requests));
      },
    ),
  );
});
