import { cents, formatAmount, parseAmount } from '@laurel/values/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromCents, toCents } from './money.ts';

// The SDK has no dependencies, so it has its own copy of the rule. These tests compare it with the
// platform's.
const TEXTS = fc.oneof(
  fc.string(),
  fc.stringMatching(/^-?\d{0,14}\.?\d{0,3}$/),
  fc.bigInt({ min: 0n, max: 99_999_999_999_999n }).map(formatAmount),
);

function centsOrNull(text: string): bigint | null {
  try {
    return toCents(text);
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return null;
  }
}

test('toCents reads exactly the amounts that the platform reads, as the same cents', () => {
  fc.assert(
    fc.property(TEXTS, (text) => {
      expect(centsOrNull(text)).toBe(parseAmount(text));
    }),
    { numRuns: 2_000 },
  );
});

test('fromCents writes an amount as the platform does', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -99_999_999_999_999n, max: 99_999_999_999_999n }), (amount) => {
      expect(fromCents(amount)).toBe(formatAmount(cents(amount)));
      if (amount >= 0n) expect(toCents(fromCents(amount))).toBe(amount);
    }),
  );
});

test('an amount that was a float is refused, not rounded', () => {
  for (const text of ['5', '5.0', '5.000', '05.00', '-5.00', ' 5.00', '5,00', '1e3', '']) {
    expect(() => toCents(text)).toThrow(TypeError);
  }
});

test('a value that is not an amount is a TypeError', () => {
  for (const wrong of [null, undefined, 12.5, ['12.50'], Object('12.50'), { toString: () => '12.50' }])
    expect(() => toCents(wrong as string)).toThrow(TypeError);
  for (const wrong of [null, undefined, 1250, 12.5, '1250', ['1250']])
    expect(() => fromCents(wrong as unknown as bigint)).toThrow(TypeError);
});
