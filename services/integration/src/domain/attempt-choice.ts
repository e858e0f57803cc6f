/**
 * Which attempt a report that names a player is for: the player's only open attempt, or the oldest
 * one if the descriptor's `pick` says so. A score for a calibrating challenge without an open
 * attempt is kept as a sample (`listened`).
 */
import { type Refused, refused } from '@laurel/errors';

export type OpenAttempts = {
  /** Oldest first, at most two. */
  readonly attemptIds: readonly string[];
  /** The parent is a challenge whose bar is not known yet. */
  readonly isCalibrating: boolean;
};

export type AttemptChoice =
  | { readonly kind: 'attempt'; readonly attemptId: string }
  | { readonly kind: 'listened' }
  | Refused;

export function chooseAttempt({ attemptIds, isCalibrating }: OpenAttempts, pick: 'only' | 'oldest'): AttemptChoice {
  const [oldest, second] = attemptIds;
  if (oldest === undefined) {
    return isCalibrating ? { kind: 'listened' } : refused('not_found', 'The player has no open attempt there.');
  }
  if (pick === 'only' && second !== undefined) {
    return refused('invalid_request', 'The player has more than one open attempt there.');
  }
  return { kind: 'attempt', attemptId: oldest };
}
