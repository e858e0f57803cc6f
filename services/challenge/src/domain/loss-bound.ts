/**
 * What a challenge may lose before its bar is confirmed (docs/contract/rules.md, "What a challenge
 * may lose").
 *
 * From a start of its drift monitor until its bar is confirmed or it is suspended, a challenge pays
 * prizes for two groups of attempts alone: those that the monitor has counted without rejecting the
 * bar, and those that it has not counted yet, at most 100 (ramp.ts). Each win pays the prize on
 * offer, capped by the ramp. Awards won after the suspension are held.
 */
import { type Cents, cents } from '@laurel/values/money';
import type { Challenge } from './challenge.ts';
import { type DriftState, FIRST_JUDGED_ATTEMPT, LOG_LIMIT, logRatiosOf } from './drift-monitor.ts';
import { prizeOnOffer } from './prize-offer.ts';
import { MAX_UNCONFIRMED_ATTEMPTS, RAMP_ATTEMPTS } from './ramp.ts';
import type { TierCeilings } from './tier-ceiling.ts';

/**
 * The most wins that the monitor can count among its first 99 attempts without rejecting or
 * confirming the bar. The monitor depends only on the numbers of attempts and wins, so this covers
 * every order of wins and losses.
 */
export function mostCountedWins(targetPassRate: number): number {
  let most = 0;
  let reached: readonly number[] = [0];
  for (let attempts = 1; attempts < RAMP_ATTEMPTS; attempts += 1) {
    const next = new Set(reached.flatMap((passes) => [passes, passes + 1]));
    reached = [...next].filter((passes) => !isRejected({ attempts, passes }, targetPassRate));
    most = Math.max(most, ...reached);
  }
  return most;
}

function isRejected(state: DriftState, targetPassRate: number): boolean {
  if (state.attempts < FIRST_JUDGED_ATTEMPT) return false;
  const { above, below } = logRatiosOf(state, targetPassRate);
  return above > LOG_LIMIT || below > LOG_LIMIT;
}

/**
 * The most wins that are paid from a start of the monitor until the bar is confirmed or the
 * challenge is suspended.
 */
export function mostWinsUntilConfirmed(targetPassRate: number): number {
  return mostCountedWins(targetPassRate) + MAX_UNCONFIRMED_ATTEMPTS;
}

/**
 * The most that is paid from a start of the monitor until the bar is confirmed or the challenge is
 * suspended. Fees are not subtracted.
 */
export function lossBoundOf(challenge: Challenge, ceilings: TierCeilings): Cents {
  return cents(BigInt(mostWinsUntilConfirmed(challenge.terms.targetPassRate)) * prizeOnOffer(challenge, ceilings));
}
