import { expect, test } from 'vitest';
import { periodOf } from './resend-period.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');

test('a number of hours names the period that ends now', () => {
  expect(periodOf({ since: '24', from: '', to: '' }, NOW)).toEqual({
    from: '2026-11-20T12:00:00.000Z',
    to: '2026-11-21T12:00:00.000Z',
  });
});

test('two instants form a period only if the first is before the second', () => {
  const custom = (from: string, to: string) => periodOf({ since: 'custom', from, to }, NOW);
  const local = (text: string) => new Date(text).toISOString();
  expect(custom('2026-11-20T10:00', '2026-11-20T11:30')).toEqual({
    from: local('2026-11-20T10:00'),
    to: local('2026-11-20T11:30'),
  });
  for (const [from, to] of [
    ['2026-11-20T10:00', '2026-11-20T10:00'],
    ['2026-11-20T11:00', '2026-11-20T10:00'],
    ['', '2026-11-20T10:00'],
    ['2026-11-20T10:00', ''],
  ] as const)
    expect(custom(from, to)).toBeUndefined();
});
