import { expect, it } from 'vitest';
import { DEFAULT_ATTEMPT_TTL_SECONDS, deadlineOf, isDue } from './attempt-expiry.ts';

const HOUR_MS = 3_600_000;

it('an attempt may stay open for an hour', () => {
  expect(DEFAULT_ATTEMPT_TTL_SECONDS * 1000).toBe(HOUR_MS);
});

it('an attempt is due exactly at its deadline', () => {
  const createdAt = new Date('2026-11-21T10:00:00.000Z');
  expect(deadlineOf(createdAt, HOUR_MS)).toEqual(new Date('2026-11-21T11:00:00.000Z'));
  expect(isDue(createdAt, HOUR_MS, new Date('2026-11-21T10:59:59.999Z'))).toBe(false);
  expect(isDue(createdAt, HOUR_MS, new Date('2026-11-21T11:00:00.000Z'))).toBe(true);
});
