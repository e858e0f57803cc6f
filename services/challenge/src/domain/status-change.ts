/**
 * The changes of a challenge's status, and what an operator may change: suspend, close or reinstate (docs/contract/portal-api.md,
 * "Challenges").
 *
 * - `closed` is final. Asking for the current status changes nothing.
 * - Reinstating (`live`) a suspended challenge restores its previous status: `live` with its bar, or `calibrating` without one. What the
 *   drift monitor suspended is reinstated with a note alone.
 * - A calibrating challenge cannot be made live by hand: its bar comes from its scores. `calibrating` cannot be asked for.
 */
import { type Refused, refused } from '@laurel/errors';
import { statusOf } from './bar.ts';
import type { Challenge, ChallengeStatus } from './challenge.ts';
import type { DriftState, LogRatios } from './drift-monitor.ts';

/** `calibrated` and `seeded` set the bar, `drift` and `ramp` are the monitor's, `operator` is a person's. */
export type StatusChangeCause = 'calibrated' | 'seeded' | 'drift' | 'ramp' | 'operator';

/** A row of the history: a change of status, or the completion of the ramp. */
export type StatusChange = {
  readonly challengeId: string;
  readonly changedAt: Date;
  readonly from: ChallengeStatus;
  readonly to: ChallengeStatus;
  readonly cause: StatusChangeCause;
  /** The operator's words; null for none. */
  readonly note: string | null;
  /** The state of the monitor, where it caused the change; null otherwise. */
  readonly evidence: (DriftState & LogRatios) | null;
};

type StatusDecision = { readonly kind: 'changed'; readonly status: ChallengeStatus };

export function decideStatusChange(
  challenge: Challenge,
  wanted: 'live' | 'suspended' | 'closed',
  {
    note,
    suspendedBy,
  }: {
    /** Null for none. */
    readonly note: string | null;
    /** The cause of its last suspension; null for none. */
    readonly suspendedBy: StatusChangeCause | null;
  },
): StatusDecision | Refused {
  const shown = statusOf(challenge);
  if (shown === wanted) return { kind: 'changed', status: challenge.status };
  if (shown === 'closed') return refused('conflict', 'The challenge is closed for good.');
  if (wanted !== 'live') return { kind: 'changed', status: wanted };
  if (shown === 'calibrating') return refused('conflict', 'The challenge is still calibrating.');
  if (suspendedBy === 'drift' && note === null) {
    return refused('invalid_request', 'The drift monitor suspended the challenge: a note is required to reinstate it.');
  }
  const isBarRead = challenge.terms.prizeStructure === 'top_n' || challenge.threshold !== null;
  return { kind: 'changed', status: isBarRead ? 'live' : 'calibrating' };
}
