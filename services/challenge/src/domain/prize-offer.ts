/**
 * What an attempt costs now and what it can win. The fee, the threshold and the prize on offer are
 * all frozen on the attempt, and the award pays that frozen prize (docs/contract/rules.md,
 * "Challenges"). While the challenge calibrates, an attempt is free, has no bar and wins nothing.
 */
import { type Cents, cents } from '@laurel/values/money';
import type { Challenge } from './challenge.ts';
import { barOf, statusOf } from './current-bar.ts';
import { rampOf, rampPrizeCapOf } from './ramp.ts';
import type { TierCeilings } from './tier-ceiling.ts';

/** What is frozen on an attempt. */
export type AttemptOffer = { readonly feeCents: Cents; readonly prizeCents: Cents; readonly threshold: number | null };

const FREE: AttemptOffer = { feeCents: cents(0n), prizeCents: cents(0n), threshold: null };

export function attemptOfferOf(challenge: Challenge, ceilings: TierCeilings): AttemptOffer {
  const threshold = barOf(challenge);
  if (threshold === null) return FREE;
  return { feeCents: challenge.terms.feeCents, prizeCents: prizeOnOffer(challenge, ceilings), threshold };
}

/**
 * The prize as a list shows it: never above the cap of a ramp, and shown even while calibrating,
 * when it cannot be won yet.
 */
export function prizeOnOffer(challenge: Challenge, ceilings: TierCeilings): Cents {
  return rampOf(challenge, ceilings) === null ? challenge.terms.prizeCents : rampPrizeCapOf(challenge, ceilings);
}

/** The fee as a list shows it. */
export function feeOnOffer(challenge: Challenge): Cents {
  return statusOf(challenge) === 'calibrating' ? FREE.feeCents : challenge.terms.feeCents;
}
