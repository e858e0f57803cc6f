/**
 * The tier ceiling: the challenge's integrity tier limits its prize to 25.00 (tier 1), 250.00 (tier
 * 2) or 2,500.00 (tier 3), unless configured otherwise (TIER_CEILINGS). An operator may set a
 * higher prize, but the challenge then accepts no attempt: availability.ts refuses with
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
