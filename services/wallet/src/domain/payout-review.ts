/**
 * An operator's review of a held payout: releasing pays it, denying closes it unpaid. The first
 * decision stays, with its operator and reason. Repeating it changes nothing; the opposite decision
 * is a conflict. A payout that was paid without a hold counts as released.
 */
import type { AwardReview } from '@laurel/attempts/domain';
import { type Refused, refused } from '@laurel/errors';
import type { Payout } from './payout-decision.ts';

/** The decision on a held payout, at the instant of its payment or its denial. */
export type PayoutDecision = Omit<AwardReview, 'decision'> & { readonly decidedAt: Date };

/**
 * A payout has no decision while it is held, if it was never held, or if an operator decided it
 * under software version 0.2.0 or older.
 */
export type ReviewedPayout = Payout & { readonly decision?: PayoutDecision };

/** `pay`: move the money now. `done`: the payout is paid already. */
export function decideRelease(payout: Payout | null): 'pay' | 'done' | Refused {
  if (payout === null) return refused('not_found');
  if (payout.status === 'denied') return refused('conflict', 'The payout was denied.');
  return payout.status === 'paid' ? 'done' : 'pay';
}

export function decideDenial(payout: Payout | null): 'deny' | 'done' | Refused {
  if (payout === null) return refused('not_found');
  if (payout.status === 'paid') return refused('conflict', 'The payout is paid.');
  return payout.status === 'denied' ? 'done' : 'deny';
}
