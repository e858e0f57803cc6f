/** The API's money is decimal strings with two places; sums need integers. */

/** Twelve digits before the point exceed any amount of the API. */
const AMOUNT = /^(0|[1-9]\d{0,11})\.(\d{2})$/;

/**
 * The cents of an amount: `toCents('12.50')` is `1250n`. A bigint, because sums of money are exact.
 * Throws a TypeError for any other text: no sign, no leading zeros, exactly two places.
 */
export function toCents(amount: string): bigint {
  const match = typeof amount === 'string' ? AMOUNT.exec(amount) : null;
  if (match === null) throw new TypeError(`Not an amount with two places, as "12.50": ${JSON.stringify(amount)}`);
  return BigInt(`${match[1]}${match[2]}`);
}

/**
 * The amount as the API writes it: `fromCents(1250n)` is `'12.50'`. A difference may be negative:
 * `'-1.00'`.
 */
export function fromCents(cents: bigint): string {
  if (typeof cents !== 'bigint') throw new TypeError('Cents are a bigint, as 1250n.');
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
