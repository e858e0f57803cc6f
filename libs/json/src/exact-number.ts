/**
 * Spellings of one number are equal, and different numbers differ, however close: numbers are compared by their exact decimal value.
 *
 * - A number that its nearest double prints back is that double: 1.0, 1e0 and 10e-1 are 1, and 0.1 is 0.1. Its canonical spelling is the
 *   one of RFC 8785.
 * - Any other, such as 12345678901234567891, whose double prints 12345678901234567000, is an ExactNumber. Its canonical spelling is sign,
 *   digits without zeros at either end, `e`, exponent.
 *
 * Either spelling gives the exact value, so two values never share one. A number costs time in proportion to its length, whatever its
 * exponent: the digits that the exponent stands for are never written out.
 */

/** A number that no double prints back. */
export class ExactNumber {
  readonly canonical: string;

  constructor(canonical: string) {
    this.canonical = canonical;
  }
}

// Fifteen significant digits always survive a double, and without an exponent so few characters stay far from its limits.
const SURELY_EXACT_CHARACTERS = 15;
const EXPONENT = /[eE]/;

/** Reads a number as JSON spells it: as a double where that prints it back. */
export function readNumber(spelling: string): number | ExactNumber {
  const double = Number(spelling);
  if (spelling.length <= SURELY_EXACT_CHARACTERS && !EXPONENT.test(spelling)) return double;
  const exact = decimalOf(spelling);
  return Number.isFinite(double) && exact === decimalOf(String(double)) ? double : new ExactNumber(exact);
}

const ZERO = 0x30;
const MINUS = 0x2d;
/** Exponents of so few digits, and a shift by a number's length, are exact as doubles. */
const SMALL_EXPONENT_CHARACTERS = 15;

/** The exact value of a finite decimal: `0`, or sign, digits without zeros at either end, `e`, exponent. */
function decimalOf(spelling: string): string {
  const sign = spelling.charCodeAt(0) === MINUS ? '-' : '';
  const exponentAt = spelling.search(EXPONENT);
  const mantissa = spelling.slice(sign.length, exponentAt === -1 ? undefined : exponentAt);
  const point = mantissa.indexOf('.');
  const digits = point === -1 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);

  // By hand: an expression like /0+$/ scans every zero from every zero before it.
  let start = 0;
  while (digits.charCodeAt(start) === ZERO) start += 1;
  if (start === digits.length) return '0';
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1;

  const shift = digits.length - end - (point === -1 ? 0 : mantissa.length - point - 1);
  const exponent = exponentAt === -1 ? String(shift) : addShift(spelling.slice(exponentAt + 1), shift);
  return `${sign}${digits.slice(start, end)}e${exponent}`;
}

function addShift(exponent: string, shift: number): string {
  return exponent.length <= SMALL_EXPONENT_CHARACTERS
    ? String(Number(exponent) + shift)
    : String(bigIntOf(exponent) + BigInt(shift));
}

/** `BigInt` accepts no plus sign. */
function bigIntOf(integer: string): bigint {
  return BigInt(integer.startsWith('+') ? integer.slice(1) : integer);
}
