/** What a decision does at once, as the page and the dialog say it. */
import type { Payout } from '../../../api/api-types.ts';
import { money } from '../../../kit/format.ts';

export type DecisionVerb = 'release' | 'deny';

export function consequenceOf(verb: DecisionVerb, { amount, environment }: Payout): string {
  if (verb === 'deny') {
    return 'No money moves, now or later, and the prize stays claimed. The partner still sees the payout as held. The decision is final.';
  }
  const kind = environment === 'live' ? 'real money' : 'play money of the sandbox';
  return `The player has ${money(amount)} of ${kind} at once, and the partner gets award.released. The decision is final.`;
}
