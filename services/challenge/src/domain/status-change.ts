/**
 * An operator suspends, closes or reinstates a challenge (docs/contract/portal-api.md, "Challenges").
 *
 * - `closed` is final. Asking for the current status changes nothing.
 * - Reinstating (`live`) a suspended challenge restores its previous status: `live` with its bar, or `calibrating` without one.
 * - A calibrating challenge cannot be made live by hand: its bar comes from its scores. `calibrating` cannot be asked for.
 */
import { type Refused, refused } from '@laurel/errors';
import { statusOf } from './bar.ts';
import type { Challenge, ChallengeStatus } from './challenge.ts';

export type StatusChange = { readonly kind: 'changed'; readonly status: ChallengeStatus };

export function decideStatusChange(
  challenge: Challenge,
  wanted: 'live' | 'suspended' | 'closed',
): StatusChange | Refused {
  const shown = statusOf(challenge);
  if (shown === wanted) return { kind: 'changed', status: challenge.status };
  if (shown === 'closed') return refused('conflict', 'The challenge is closed for good.');
  if (wanted !== 'live') return { kind: 'changed', status: wanted };
  if (shown === 'calibrating') return refused('conflict', 'The challenge is still calibrating.');
  const isBarRead = challenge.terms.prizeStructure === 'top_n' || challenge.threshold !== null;
  return { kind: 'changed', status: isBarRead ? 'live' : 'calibrating' };
}
