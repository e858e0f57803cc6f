import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cursorRefusalsAfter } from './cursor-refusal.ts';
import type { PollFailure } from './poll-failure.ts';

/** Which failure, counted from 1, drops the cursor; null if none does. */
function droppedAt(failures: readonly PollFailure[], cursor: string | null = 'c1'): number | null {
  let refusals = 0;
  for (const [index, failure] of failures.entries()) {
    const after = cursorRefusalsAfter(failure, cursor, refusals);
    if (after.isDropped) return index + 1;
    refusals = after.refusals;
  }
  return null;
}

test('the third response of 400 or 410 in a row drops the cursor', () => {
  expect(droppedAt(['http_400', 'http_410', 'http_400'])).toBe(3);
  expect(droppedAt(['http_410', 'http_410', 'http_500', 'http_410', 'http_410'])).toBeNull();
  expect(droppedAt(['http_410', 'timeout', 'http_410', 'http_410', 'http_400'])).toBe(5);
});

test('only responses of 400 and 410 drop a cursor', () => {
  const failure = fc.constantFrom<PollFailure>('http_400', 'http_401', 'http_404', 'http_410', 'http_429', 'timeout');
  fc.assert(
    fc.property(fc.array(failure), (failures) => {
      expect(droppedAt(failures, null)).toBeNull();
      expect(droppedAt(failures.filter((one) => one !== 'http_400' && one !== 'http_410'))).toBeNull();
    }),
  );
});
