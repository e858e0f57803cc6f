/**
 * The ramp: a challenge whose bar rests on reported scores offers at most 20 % of its tier's
 * ceiling, until its drift monitor has seen 100 settled paid attempts and does not reject the bar.
 * A bar that an operator set has no ramp, and neither has the moving bar of a top_n challenge
 * (docs/contract/rules.md, "Ramp").
 *
 * Until then its bar is unconfirmed, even if the prize is within that cap: at most 100 attempts may
 * be open, pending ones included, or settled and not yet counted by the monitor. So the monitor is
 * never more than 100 attempts behind.
 */
import { type Cents, cents } from '@laurel/values/money';
import type { Challenge, ChallengeTerms } from './challenge.ts';
import { ceilingOf, type TierCeilings } from './tier-ceiling.ts';

export const RAMP_ATTEMPTS = 100;
const CAP_PERCENT = 20n;

/** How many attempts may be open or wait for the monitor while the bar is unconfirmed. */
export const MAX_UNCONFIRMED_ATTEMPTS = 100;

export type Ramp = {
  readonly fullPrizeCents: Cents;
  readonly attemptsSeen: number;
  readonly attemptsRequired: number;
};

/** The facts from which a ramp follows. */
type RampedChallenge = Pick<Challenge, 'hasRamp' | 'rampCompletedAt' | 'attemptsSeen'> & {
  readonly terms: Pick<ChallengeTerms, 'prizeCents' | 'integrityTier'>;
};

/** The ramp of a challenge; null unless the ramp limits the prize now. */
export function rampOf(challenge: RampedChallenge, ceilings: TierCeilings): Ramp | null {
  return challenge.rampCompletedAt === null ? rampSoFar(challenge, ceilings) : null;
}

/**
 * Like `rampOf`, but also returns a completed ramp, with all required attempts seen. Null if no
 * ramp limits or has limited the prize.
 */
export function rampSoFar(challenge: RampedChallenge, ceilings: TierCeilings): Ramp | null {
  const { hasRamp, rampCompletedAt, attemptsSeen, terms } = challenge;
  if (!hasRamp || terms.prizeCents <= rampPrizeCapOf(challenge, ceilings)) return null;
  return {
    fullPrizeCents: terms.prizeCents,
    attemptsSeen: rampCompletedAt === null ? attemptsSeen : RAMP_ATTEMPTS,
    attemptsRequired: RAMP_ATTEMPTS,
  };
}

/** Whether an unconfirmed bar allows no further attempt. */
export function hasMaxUnconfirmedAttempts({ unconfirmedAttempts }: Pick<Challenge, 'unconfirmedAttempts'>): boolean {
  return unconfirmedAttempts !== null && unconfirmedAttempts >= MAX_UNCONFIRMED_ATTEMPTS;
}

/** The challenge with `more` further open attempts; a negative number takes some away. */
export function withMoreAttempts(challenge: Challenge, more: number): Challenge {
  const { unconfirmedAttempts } = challenge;
  return unconfirmedAttempts === null ? challenge : { ...challenge, unconfirmedAttempts: unconfirmedAttempts + more };
}

/** The most that the challenge offers while it ramps. */
export function rampPrizeCapOf({ terms }: Pick<RampedChallenge, 'terms'>, ceilings: TierCeilings): Cents {
  return rampCapOf(ceilingOf(terms, ceilings));
}

/** The most that a challenge with this ceiling offers while it ramps, in whole cents. */
export function rampCapOf(ceiling: Cents): Cents {
  return cents((ceiling * CAP_PERCENT) / 100n);
}
