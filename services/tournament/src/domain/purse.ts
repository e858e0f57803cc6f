/**
 * The purse of a round: a fixed amount for each rank, funded by the house and frozen when the round
 * opens (docs/contract/partner-api.md, "Round": `purse_table`, `purse_amount`). Entry fees never
 * change it. Ranks beyond the table win 0.00. The payout of a rank that no entry reached goes to no
 * other rank.
 */
import { deriveOwnedId } from '@laurel/values/ids';
import { type Cents, cents } from '@laurel/values/money';
import type { Purse } from './tournament.ts';

/** `purse_amount`: the exact sum of the table. */
export function purseAmount(purse: Purse): Cents {
  return cents(purse.reduce((sum, amount) => sum + amount, 0n));
}

/** The payout of a rank, counted from 1; 0.00 beyond the table. */
export function payoutOfRank(purse: Purse, rank: number): Cents {
  if (!Number.isSafeInteger(rank) || rank < 1) throw new RangeError(`${rank} is not a rank`);
  return purse[rank - 1] ?? cents(0n);
}

/** The ranks that are paid if this many entries have a score. */
export function payoutsOf(
  purse: Purse,
  scoredPlayers: number,
): readonly { readonly rank: number; readonly amountCents: Cents }[] {
  return purse.slice(0, scoredPlayers).map((amountCents, index) => ({ rank: index + 1, amountCents }));
}

/**
 * The sum of the payouts if this many entries have a score: `purse_amount` without the ranks that
 * no entry reached.
 */
export function purseWon(purse: Purse, scoredPlayers: number): Cents {
  return cents(payoutsOf(purse, scoredPlayers).reduce((sum, { amountCents }) => sum + amountCents, 0n));
}

/**
 * The award id of a rank. It is derived, so settling a round again pays the same award, and nothing
 * twice.
 */
export function awardIdOfRank(roundId: string, rank: number): string {
  return deriveOwnedId(roundId, `rank:${rank}`, 'tournament');
}
