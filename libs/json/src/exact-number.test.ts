import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { ExactNumber, readNumber } from './exact-number.ts';
import { parseExactJson, parseJson } from './parse-json.ts';

const canonicalOf = (text: string) => canonicalJson(parseExactJson(text));

describe('a number that its double prints back', () => {
  test.each([
    ['1.0', 1],
    ['1', 1],
    ['1e0', 1],
    ['10e-1', 1],
    ['1E+2', 100],
    ['-0', -0],
    ['0.000', 0],
    ['0e99', 0],
    ['0.1', 0.1],
    ['0.30000000000000004', 0.30000000000000004],
    ['9007199254740992', 2 ** 53],
    ['12345678901234567000', 12345678901234567000],
    ['5e-324', 5e-324],
    ['100e-0000000000000000000000002', 1],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    [`1${'0'.repeat(30)}`, 1e30],
  ])('the number %s is read as its double', (spelling, double) => {
    expect(readNumber(spelling)).toBe(double);
  });
});

describe('a number that its double does not print back', () => {
  test.each([
    ['12345678901234567891', '12345678901234567891e0'],
    ['-12345678901234567892.50', '-123456789012345678925e-1'],
    ['9007199254740993', '9007199254740993e0'],
    ['0.1000000000000000055511151231257827', '1000000000000000055511151231257827e-34'],
    ['1.2345678901234567e-320', '12345678901234567e-336'],
    ['1e-400', '1e-400'],
    ['1e-999999999', '1e-999999999'],
    ['0.001e-99999999999999999999', '1e-100000000000000000002'],
    ['100e+99999999999999999999', '1e100000000000000000001'],
  ])('the number %s is kept as %s', (spelling, canonical) => {
    const read = readNumber(spelling);
    expect(read instanceof ExactNumber ? read.canonical : read).toBe(canonical);
  });
});

test('reading a number takes time in proportion to its length', () => {
  const zeros = '0'.repeat(250_000);
  expect(readNumber(`0.${zeros}1`)).toEqual(new ExactNumber('1e-250001'));
  expect(readNumber(`1${zeros}`)).toEqual(new ExactNumber('1e250000'));
  expect(readNumber(`1${zeros}e-250000`)).toBe(1);
  expect(readNumber(`1${zeros}1e-250001`)).toEqual(new ExactNumber(`1${zeros}1e-250001`));
  expect(readNumber(`1e-${'9'.repeat(250_000)}`)).toBeInstanceOf(ExactNumber);
});

test('a shift is added exactly to an exponent of any length', () => {
  const digits = fc.oneof(
    fc.bigInt({ min: 1n, max: 10n ** 40n }),
    // Cases in which the last fifteen digits carry or borrow.
    fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 9n }), fc.integer({ min: 14, max: 30 }), fc.integer({ min: -9, max: 9 }))
      .map(([high, zeros, near]) => high * 10n ** BigInt(zeros) + BigInt(near)),
  );
  fc.assert(
    fc.property(digits, fc.boolean(), fc.nat(3), fc.nat(20), (exponent, isNegative, zeros, fraction) => {
      const power = isNegative ? -exponent : exponent;
      fc.pre(exponent > 400n);
      const spelling = `0.${'0'.repeat(fraction)}1e${isNegative ? '-' : '+'}${'0'.repeat(zeros)}${exponent}`;
      expect(readNumber(spelling)).toEqual(new ExactNumber(`1e${power - BigInt(fraction) - 1n}`));
    }),
    { numRuns: 5_000 },
  );
});

describe('canonical JSON', () => {
  test('values with the same meaning have the same canonical JSON', () => {
    expect(canonicalOf(' {"b":[1.0, 12345678901234567891, true], "a":{"\\u0061":null,"A":"x"}} ')).toBe(
      '{"a":{"A":"x","a":null},"b":[1,12345678901234567891e0,true]}',
    );
  });

  test('canonical JSON equals that of RFC 8785 for a body whose numbers are doubles', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(canonicalOf(text)).toBe(canonicalJson(parseJson(text)));
      }),
    );
  });
});

// --- the property ---

/** `mantissa * 10 ** exponent`. */
interface Decimal {
  readonly mantissa: bigint;
  readonly exponent: number;
}

/**
 * Another spelling of the number: `zeros` more digits, the point `shift` digits further left, and
 * an exponent that compensates for both.
 */
function spell({ mantissa, exponent }: Decimal, zeros: number, shift: number, mark: string): string {
  const sign = mantissa < 0n ? '-' : '';
  const digits = `${mantissa < 0n ? -mantissa : mantissa}${'0'.repeat(zeros)}`.padStart(shift + 1, '0');
  const whole = digits.slice(0, digits.length - shift).replace(/^0+(?=\d)/, '');
  const fraction = shift === 0 ? '' : `.${digits.slice(digits.length - shift)}`;
  const power = exponent - zeros + shift;
  if (power === 0 && mark === 'e') return `${sign}${whole}${fraction}`;
  return `${sign}${whole}${fraction}${mark}${power > 0 && shift % 2 === 1 ? '+' : ''}${power}`;
}

function areEqual(one: Decimal, other: Decimal): boolean {
  const least = Math.min(one.exponent, other.exponent);
  const scale = ({ mantissa, exponent }: Decimal) => mantissa * 10n ** BigInt(exponent - least);
  return scale(one) === scale(other);
}

const decimal = fc.record({
  mantissa: fc.oneof(
    fc.bigInt({ min: -20n, max: 20n }),
    fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
    fc.bigInt({ min: 12345678901234567890n, max: 12345678901234567893n }),
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
  ),
  exponent: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -340, max: 280 })),
});
const spelled = fc
  .tuple(decimal, fc.nat(3), fc.nat(30), fc.constantFrom('e', 'E'))
  .map(([value, zeros, shift, mark]) => ({ value, text: spell(value, zeros, shift, mark) }));
/** About half of the pairs are the same value twice, or neighbours. */
const pair = fc
  .tuple(spelled, spelled, fc.constantFrom<'same' | 'next' | 'any'>('same', 'next', 'any'), fc.nat(3), fc.nat(30))
  .map(([one, other, kin, zeros, shift]) => {
    if (kin === 'any') return [one, other] as const;
    const value = { ...one.value, mantissa: one.value.mantissa + (kin === 'next' ? 1n : 0n) };
    return [one, { value, text: spell(value, zeros, shift, 'E') }] as const;
  });

test('two spellings have the same canonical text exactly if they spell the same number', () => {
  fc.assert(
    fc.property(pair, ([one, other]) => {
      expect([one.text, other.text, canonicalOf(one.text) === canonicalOf(other.text)]).toEqual([
        one.text,
        other.text,
        areEqual(one.value, other.value),
      ]);
    }),
    { numRuns: 20_000 },
  );
});

test('canonicalising a canonical text leaves it unchanged', () => {
  fc.assert(
    fc.property(spelled, ({ text }) => {
      expect(canonicalOf(canonicalOf(text))).toBe(canonicalOf(text));
    }),
    { numRuns: 5_000 },
  );
});
