/**
 * Numbers are compared by their exact decimal value: spellings of one number are equal, and
 * different numbers differ, however close.
 *
 * - A number becomes its nearest double if that double prints the number back: 1.0, 1e0 and 10e-1
 *   are 1, and 0.1 is 0.1. Its canonical spelling is that of RFC 8785.
 * - Any other number becomes an ExactNumber, such as 12345678901234567891, whose double prints
 *   12345678901234567000. Its canonical spelling is sign, digits without zeros at either end, `e`,
 *   exponent.
 *
 * Both canonical spellings state the exact value, so two different values never have the same
 * spelling. Reading a number costs time in proportion to its length, whatever its exponent: no code
 * writes out the digits that the exponent stands for.
 */

/** A number that no double prints back. */
export class ExactNumber {
  readonly canonical: string;

  constructor(canonical: string) {
    this.canonical = canonical;
  }
}

// A double keeps fifteen significant digits, and text this short without an exponent is in its
// range.
const SURELY_EXACT_CHARACTERS = 15;
const EXPONENT = /[eE]/;

/**
 * Reads the JSON spelling of a number: as a double if the double prints the number back, else as an
 * ExactNumber.
 */
export function readNumber(spelling: string): number | ExactNumber {
  const double = Number(spelling);
  if (spelling.length <= SURELY_EXACT_CHARACTERS && !EXPONENT.test(spelling)) return double;
  const exact = decimalOf(spelling);
  return Number.isFinite(double) && exact === decimalOf(String(double)) ? double : new ExactNumber(exact);
}

const ZERO = 0x30;
const NINE = 0x39;
const PLUS = 0x2b;
const MINUS = 0x2d;
/**
 * A double holds an exponent of this many digits exactly, even after the length of a number is
 * added to it.
 */
const SMALL_EXPONENT_CHARACTERS = 15;
/** The least integer that has more digits than that. */
const LOW_DIGITS = 10 ** SMALL_EXPONENT_CHARACTERS;

/**
 * The exact value of a finite decimal: `0`, or sign, digits without zeros at either end, `e`,
 * exponent.
 */
function decimalOf(spelling: string): string {
  const sign = spelling.charCodeAt(0) === MINUS ? '-' : '';
  const exponentAt = spelling.search(EXPONENT);
  const mantissa = spelling.slice(sign.length, exponentAt === -1 ? undefined : exponentAt);
  const point = mantissa.indexOf('.');
  const digits = point === -1 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);

  // The scan is by hand: an expression like /0+$/ scans every zero from every zero before it.
  let start = 0;
  while (digits.charCodeAt(start) === ZERO) start += 1;
  if (start === digits.length) return '0';
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1;

  const shift = digits.length - end - (point === -1 ? 0 : mantissa.length - point - 1);
  const exponent = exponentAt === -1 ? String(shift) : addShift(spelling.slice(exponentAt + 1), shift);
  return `${sign}${digits.slice(start, end)}e${exponent}`;
}

/** Adds `shift`, at most the length of a text, to an exponent. The result has no leading zeros. */
function addShift(exponent: string, shift: number): string {
  const isNegative = exponent.charCodeAt(0) === MINUS;
  let start = isNegative || exponent.charCodeAt(0) === PLUS ? 1 : 0;
  while (exponent.charCodeAt(start) === ZERO) start += 1;
  const digits = exponent.slice(start);
  const sign = isNegative ? -1 : 1;
  if (digits.length <= SMALL_EXPONENT_CHARACTERS) return String(sign * Number(digits) + shift);
  // The exponent exceeds every shift, so its sign stays. BigInt would take more than linear time.
  return `${isNegative ? '-' : ''}${addToDigits(digits, sign * shift)}`;
}

/** Adds a short number to a decimal of more than SMALL_EXPONENT_CHARACTERS digits. */
function addToDigits(digits: string, added: number): string {
  const split = digits.length - SMALL_EXPONENT_CHARACTERS;
  const low = Number(digits.slice(split)) + added;
  const carry = Math.floor(low / LOW_DIGITS);
  const lowDigits = String(low - carry * LOW_DIGITS).padStart(SMALL_EXPONENT_CHARACTERS, '0');
  return withoutLeadingZero(carryInto(digits.slice(0, split), carry) + lowDigits);
}

/** Adds 1, 0 or -1 to a decimal without leading zeros. */
function carryInto(digits: string, carry: number): string {
  if (carry === 0) return digits;
  const [passed, passedTo] = carry === 1 ? [NINE, '0'] : [ZERO, '9'];
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === passed) end -= 1;
  const changed = end === 0 ? '1' : digits.slice(0, end - 1) + String(Number(digits[end - 1]) + carry);
  return changed + passedTo.repeat(digits.length - end);
}

/** A borrow leaves at most one leading zero. */
function withoutLeadingZero(digits: string): string {
  let start = 0;
  while (digits.charCodeAt(start) === ZERO && start < digits.length - 1) start += 1;
  return digits.slice(start);
}
