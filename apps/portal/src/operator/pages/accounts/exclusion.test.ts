import { expect, test } from 'vitest';
import { exclusionOf, isExcluded } from './exclusion.ts';

const NOW = new Date('2026-11-26T12:00:00.000Z');

test('the end of a self-exclusion must be in the future', () => {
  expect(exclusionOf('2026-11-26T12:00:01Z', NOW)).toBe('2026-11-26T12:00:01.000Z');
  for (const typed of ['', 'tomorrow', '2026-11-26T12:00:00Z']) expect(exclusionOf(typed, NOW)).toBeUndefined();
});

test('a self-exclusion no longer applies at the instant at which it ends', () => {
  expect(isExcluded('2026-11-26T12:00:00.001Z', NOW)).toBe(true);
  expect(isExcluded('2026-11-26T12:00:00.000Z', NOW)).toBe(false);
  expect(isExcluded(null, NOW)).toBe(false);
});
