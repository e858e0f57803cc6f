/**
 * The tier ceiling: the challenge's integrity tier limits its prize. An operator may set a higher
 * prize, but the challenge then accepts no attempt: player-availability.ts refuses with
 * `challenge_not_available`.
 */
import { type Cents, cents } from '@laurel/values/money';
import type { ChallengeTerms } from './challenge.ts';

/** The ceilings of tiers 1, 2 and 3. */
export type TierCeilings = readonly [Cents, Cents, Cents];

/** The ceilings, unless the service's settings name others. */
export const DEFAULT_TIER_CEILINGS: TierCeilings = [cents(25_00n), cents(250_00n), cents(2_500_00n)];

/** Whether the prize is above the ceiling of its tier. A prize of exactly the ceiling is not. */
export function isPrizeAboveCeiling(
  { integrityTier, prizeCents }: Pick<ChallengeTerms, 'integrityTier' | 'prizeCents'>,
  ceilings: TierCeilings,
): boolean {
  return prizeCents > ceilingOf({ integrityTier }, ceilings);
}

export function ceilingOf({ integrityTier }: Pick<ChallengeTerms, 'integrityTier'>, ceilings: TierCeilings): Cents {
  const ceiling = ceilings[integrityTier - 1];
  if (ceiling === undefined) throw new RangeError(`no ceiling for integrity tier ${integrityTier}`);
  return ceiling;
}
