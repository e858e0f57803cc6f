import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cents, formatAmount, parseAmount } from './money.ts';

test('an amount is read as integer cents', () => {
  expect(['0.00', '0.01', '0.10', '1.00', '12.34', '999999999999.99'].map(parseAmount)).toEqual([
    0n,
    1n,
    10n,
    100n,
    1234n,
    99_999_999_999_999n,
  ]);
});

test('an amount other than digits, a point and two digits is refused', () => {
  const wrong = [
    '',
    '1',
    '1.0',
    '1.000',
    '.50',
    '01.00',
    '00.00',
    '-1.00',
    '+1.00',
    '1,00',
    '1e2',
    ' 1.00',
    '1.00\n',
    '١.٠٠',
    'NaN',
  ];
  for (const text of [...wrong, '1000000000000.00']) expect(parseAmount(text)).toBeNull();
});

test('an amount is written with two places', () => {
  expect([0n, 1n, 10n, 100n, 1234n, -1n, -100n, -1234n].map(formatAmount)).toEqual([
    '0.00',
    '0.01',
    '0.10',
    '1.00',
    '12.34',
    '-0.01',
    '-1.00',
    '-12.34',
  ]);
});

test('parsing and formatting an amount are inverse', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 99_999_999_999_999n }), (amount) => {
      expect(parseAmount(formatAmount(cents(amount)))).toBe(amount);
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^(0|[1-9]\d{0,11})\.\d{2}$/), (text) => {
      const amount = parseAmount(text);
      expect(amount === null ? null : formatAmount(amount)).toBe(text);
    }),
  );
});

test('a negative amount is formatted with a minus sign', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 18n }), (amount) => {
      expect(formatAmount(-amount)).toBe(`-${formatAmount(amount)}`);
    }),
  );
});
