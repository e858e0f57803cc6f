import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, money, relativeTime, shortId, utcTime, words } from './format.ts';

const NOW = Date.parse('2026-11-26T12:00:00.000Z');

describe('relativeTime', () => {
  test.each([
    ['2026-11-26T12:00:00.000Z', 'now'],
    ['2026-11-26T11:59:48.000Z', '12 s ago'],
    ['2026-11-26T12:05:00.000Z', 'in 5 min'],
    ['2026-11-26T09:00:00.000Z', '3 h ago'],
    ['2026-11-20T12:00:00.000Z', '6 d ago'],
    ['2026-11-19T12:00:00.000Z', 'Nov 19, 2026'],
  ])('%s reads as "%s"', (at, text) => {
    expect(relativeTime(at, NOW)).toBe(text);
  });
});

test('the exact time shows the same instant in UTC', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), (date) => {
      expect(new Date(utcTime(date.toISOString()).replace(' UTC', 'Z')).getTime()).toBe(date.getTime());
    }),
  );
});

describe('money', () => {
  test.each([
    ['0.00', '$0.00'],
    ['5.00', '$5.00'],
    ['1234.50', '$1,234.50'],
    ['-5.00', '−$5.00'],
    ['90071992547409931.07', '$90,071,992,547,409,931.07'],
  ])('%s reads as %s', (amount, text) => {
    expect(money(amount)).toBe(text);
  });

  test('an amount of any size is shown with all of its digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 0, max: 99 }), (dollars, cents) => {
        const amount = `${dollars}.${String(cents).padStart(2, '0')}`;
        expect(money(amount).replace(/[$,]/g, '')).toBe(amount);
      }),
    );
  });

  test('a text that is not an amount is shown unchanged', () => {
    expect(money('five')).toBe('five');
  });
});

test('durations are shown with units', () => {
  expect(formatDuration(820)).toBe('820 ms');
  expect(formatDuration(1_249)).toBe('1.2 s');
  expect(formatDuration(999.9)).toBe('1.0 s');
  expect(formatDuration(59_400)).toBe('59.4 s');
  expect(formatDuration(59_999)).toBe('1 min');
  expect(formatDuration(200_000)).toBe('3 min 20 s');
  expect(formatDuration(7_200_000)).toBe('2 h');
  expect(formatDuration(274_000_000)).toBe('3 d 4 h');
  expect(shortId('01a216b0-26b2-70d9-bec1-852b0441b262')).toBe('01a2…0441b262');
  expect(shortId('p-1')).toBe('p-1');
  expect(words('payout_held')).toBe('payout held');
});
