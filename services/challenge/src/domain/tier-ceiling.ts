/**
 * The tier ceiling: an integrity tier limits the prize, to 25.00 in tier 1, 250.00 in tier 2 and 2,500.00 in tier 3 unless configured
 * otherwise (TIER_CEILINGS). An operator may set a prize above it; such a challenge accepts no attempt, which availability.ts answers as
 * `challenge_not_available`.
 */
import type { Cents } from '@laurel/money';
import type { ChallengeTerms } from './challenge.ts';

/** The ceilings of tiers 1, 2 and 3. */
export type TierCeilings = readonly [Cents, Cents, Cents];

/** A prize of exactly the ceiling is not above it. */
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
