import { expect, test } from 'vitest';
import { concernsOf } from './concerns.ts';
import { explainReason } from './reasons.ts';

const CALM = { enforcement_flag: false, under_investigation: false, blocked: false, self_excluded_until: null };
const NOW = new Date('2026-11-26T12:00:00.000Z');

test('an account without flags raises no concern', () => {
  expect(concernsOf(CALM, NOW)).toEqual([]);
});

test('each flag of an account is a concern', () => {
  const flagged = { ...CALM, enforcement_flag: true, under_investigation: true, blocked: true };
  expect(concernsOf(flagged, NOW)).toEqual(['enforcement flag', 'under investigation', 'blocked']);
});

test('a self-exclusion is a concern until it ends', () => {
  expect(concernsOf({ ...CALM, self_excluded_until: '2026-11-26T12:00:00.001Z' }, NOW)).toEqual(['self-excluded']);
  expect(concernsOf({ ...CALM, self_excluded_until: '2026-11-26T12:00:00.000Z' }, NOW)).toEqual([]);
});

test('a known reason of a hold is shown as a sentence', () => {
  expect(explainReason('under_investigation')).toBe('The account is under investigation.');
  expect(explainReason('a_newer_reason')).toBe('a newer reason');
});
