/**
 * An operator's review of a held payout. Releasing pays it, denying closes it unpaid. Repeating
 * either changes nothing; the other one afterwards is a conflict. A payout that was paid without a
 * hold counts as released.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Payout } from './payout-decision.ts';

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
