/**
 * Money is integer cents everywhere inside; decimal strings with two places exist only at the API
 * (docs/contract/partner-api.md, "Conventions").
 */

declare const centsBrand: unique symbol;

/** An amount in US cents. */
export type Cents = bigint & { readonly [centsBrand]: true };

// Twelve digits before the point: more than any amount in Laurel, and far inside a bigint column.
const AMOUNT = /^(0|[1-9]\d{0,11})\.(\d{2})$/;
/** The largest amount that `parseAmount` accepts. */
export const MAX_AMOUNT_CENTS = 99_999_999_999_999n;

export function cents(amount: bigint): Cents {
  return amount as Cents;
}

/** Parses `<amount>`: no sign, no leading zeros, exactly two places. Null for anything else. */
export function parseAmount(text: string): Cents | null {
  const match = AMOUNT.exec(text);
  return match === null ? null : cents(BigInt(`${match[1]}${match[2]}`));
}

/** Always writes two places; a negative amount, as on a statement, becomes `-1.00`. */
export function formatAmount(amount: Cents | bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
