import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterWrongToken, KNOWN_CLIENT, TOKEN_BACKOFF, UNKNOWN_CLIENT, waitOf } from './token-backoff.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const after = (ms: number) => new Date(NOW.getTime() + ms);
const failing = (times: number) =>
  Array.from({ length: times }).reduce<typeof UNKNOWN_CLIENT>((one) => afterWrongToken(one, NOW), UNKNOWN_CLIENT);

test('ten wrong operator tokens are free, and each further one doubles the wait, up to a minute', () => {
  const waits = [0, 9, 10, 11, 12, 15, 16, 1_000].map((times) => waitOf(failing(times), NOW)?.retryAfterSeconds ?? 0);
  expect(waits).toEqual([0, 0, 1, 2, 4, 32, 60, 60]);
});

test('an operator token is compared again after the wait that the refusal named', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 500 }), (times) => {
      const wait = waitOf(failing(times), NOW);
      if (wait !== null) expect(waitOf(failing(times), after(wait.retryAfterSeconds * 1_000))).toBeNull();
    }),
  );
});

test('wrong operator tokens stop counting after a quarter of an hour', () => {
  expect(afterWrongToken(failing(50), after(TOKEN_BACKOFF.windowMs))).toMatchObject({ count: 1 });
  expect(waitOf(KNOWN_CLIENT, NOW)).toBeNull();
});
