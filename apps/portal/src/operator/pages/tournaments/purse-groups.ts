/** A purse as it is typed: groups of successive ranks with one payout. */
import type { PaidRank } from '../../../api/api-types.ts';

export interface TypedGroup {
  /** Identifies the row of the form while it is shown. */
  readonly key: number;
  /** How many ranks get the payout. */
  readonly ranks: string;
  /** The payout of each of these ranks. */
  readonly amount: string;
}

const AMOUNT = /^\d{1,12}\.\d{2}$/;

/** The ranks of each group, from 1 on; a group whose number of ranks is no number has none. */
export function spansOf(groups: readonly TypedGroup[]): readonly { readonly first: number; readonly last: number }[] {
  let last = 0;
  return groups.map(({ ranks }) => {
    const first = last + 1;
    last += countOf(ranks);
    return { first, last };
  });
}

export function purseOf(groups: readonly TypedGroup[]): readonly PaidRank[] {
  const spans = spansOf(groups);
  return groups.flatMap(({ ranks, amount }, index) =>
    Array.from({ length: countOf(ranks) }, (_, at) => ({
      rank: (spans[index]?.first ?? 1) + at,
      amount: amount.trim(),
    })),
  );
}

/** The sum of all payouts; null while an amount is not complete. */
export function totalOf(groups: readonly TypedGroup[]): string | null {
  let cents = 0n;
  for (const { ranks, amount } of groups) {
    const text = amount.trim();
    if (!AMOUNT.test(text)) return null;
    cents += BigInt(countOf(ranks)) * BigInt(text.replace('.', ''));
  }
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The most ranks that Laurel pays; the field of the form refuses more. */
export const MAX_RANKS = 5_000;

function countOf(ranks: string): number {
  const count = Number(ranks);
  return Number.isInteger(count) && count > 0 && count <= MAX_RANKS ? count : 0;
}
