/**
 * Whether a player may attempt a challenge now; the wallet decides on funds and eligibility. The
 * first rule that applies refuses (docs/contract/partner-api.md, "POST /attempts", and "Errors" for
 * the order):
 *
 * 1. `not_found`: no such challenge, or another tenant's.
 * 2. `challenge_not_available`: suspended, closed, its prize is above the tier ceiling, or its bar
 *    is unconfirmed and the maximum number of attempts are open or wait for the monitor.
 * 3. `challenge_already_claimed`: the account has an award of this challenge, whatever its status.
 *    Permanent.
 * 4. `rung_locked`: the account has not claimed the parent rung.
 * 5. `attempt_cap_reached`: the account had as many paid attempts in the last 24 hours as the daily
 *    cap; refunded ones and free ones do not count.
 */

import { isSameTenant, type Tenant } from '@laurel/attempts/domain';
import { type Refused, refused } from '@laurel/errors';
import type { Challenge } from './challenge.ts';
import { statusOf } from './current-bar.ts';
import { type AttemptOffer, attemptOfferOf } from './prize-offer.ts';
import { hasMaxUnconfirmedAttempts } from './ramp.ts';
import { isPrizeAboveCeiling, type TierCeilings } from './tier-ceiling.ts';

/** The window of the daily cap; an attempt exactly this old no longer counts. */
export const CAP_WINDOW_MS = 24 * 60 * 60 * 1000;

/** The account's history with the challenge. */
export type PlayerFacts = {
  readonly claimed: boolean;
  /** True for a challenge without a parent. */
  readonly parentClaimed: boolean;
  /** Paid attempts in the window that were not refunded. */
  readonly paidInWindow: number;
};

/** The facts of a ref without an account. */
export function factsWithoutAccount(challenge: Challenge): PlayerFacts {
  return { claimed: false, parentClaimed: challenge.terms.parentChallengeId === null, paidInWindow: 0 };
}

export type Available = { readonly kind: 'available'; readonly challenge: Challenge; readonly offer: AttemptOffer };

export function decideAvailability(facts: {
  readonly tenant: Tenant;
  readonly challenge: Challenge | null;
  readonly player: PlayerFacts;
  readonly ceilings: TierCeilings;
}): Available | Refused {
  const { challenge, player } = facts;
  if (challenge === null || !isSameTenant(challenge.tenant, facts.tenant)) return refused('not_found');

  const status = statusOf(challenge);
  const isOffered = status === 'live' || status === 'calibrating';
  if (!isOffered || isPrizeAboveCeiling(challenge.terms, facts.ceilings)) return refused('challenge_not_available');
  if (hasMaxUnconfirmedAttempts(challenge)) return refused('challenge_not_available');
  if (player.claimed) return refused('challenge_already_claimed');
  if (!player.parentClaimed) return refused('rung_locked');

  const offer = attemptOfferOf(challenge, facts.ceilings);
  if (offer.feeCents > 0n && player.paidInWindow >= challenge.terms.dailyAttemptCap) {
    return refused('attempt_cap_reached');
  }
  return { kind: 'available', challenge, offer };
}
