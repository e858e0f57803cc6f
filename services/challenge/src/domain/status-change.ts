/**
 * The changes of a challenge's status, and which an operator may make: suspend, close or reinstate
 * (docs/contract/portal-api.md, "Challenges").
 *
 * - `closed` is final. Asking for the current status changes nothing.
 * - Reinstating (`live`) a suspended challenge restores its previous status: `live` with its bar,
 *   or `calibrating` without one. If the drift monitor suspended it, reinstating requires a note.
 * - An operator cannot make a calibrating challenge live, because its bar comes from its scores,
 *   and cannot ask for `calibrating`.
 */
import { type Refused, refused } from '@laurel/errors';
import type { Challenge, ChallengeStatus } from './challenge.ts';
import { statusOf } from './current-bar.ts';
import type { DriftState, LogRatios } from './drift-monitor.ts';

/**
 * What changed the status. `calibrated`, `seeded`: the bar was set. `drift`, `ramp`: the drift
 * monitor. `operator`: a person.
 */
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
  /** The state of the monitor if it caused the change; null otherwise. */
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
    /** The operator's note; null for none. */
    readonly note: string | null;
    /** The cause of the challenge's last suspension; null if it was never suspended. */
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
