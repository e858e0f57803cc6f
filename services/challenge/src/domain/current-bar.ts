/**
 * The bar of a challenge now, and the status that follows from it.
 *
 * - `threshold`: the calibrated threshold; none while calibrating.
 * - `top_n`: the n-th best settled score so far, from however many players. With fewer than n
 *   scores there is no bar yet and the challenge is calibrating (docs/contract/rules.md,
 *   "Challenges").
 *
 * A suspended or closed challenge has that status with or without a bar.
 */
import type { Attempt, AttemptTerms, Challenge, ChallengeStatus } from './challenge.ts';

type WithBar = Pick<Challenge, 'status' | 'threshold' | 'nthBestScore'> & {
  readonly terms: Pick<Challenge['terms'], 'prizeStructure'>;
};

export function barOf(challenge: WithBar): number | null {
  return challenge.terms.prizeStructure === 'top_n' ? challenge.nthBestScore : challenge.threshold;
}

/** The status that a partner reads. */
export function statusOf(challenge: WithBar): ChallengeStatus {
  return challenge.status === 'live' && barOf(challenge) === null ? 'calibrating' : challenge.status;
}

export type CalibrationProgress = {
  readonly collected: number;
  readonly required: number;
  readonly playersCollected: number;
  readonly playersRequired: number;
};

/** The progress of the calibration; null unless the challenge is calibrating. */
export function calibrationProgressOf(challenge: Challenge): CalibrationProgress | null {
  if (statusOf(challenge) !== 'calibrating') return null;
  const { topN, minCalibrationN, minCalibrationPlayers } = challenge.terms;
  return {
    collected: challenge.collected,
    required: topN ?? minCalibrationN,
    playersCollected: challenge.playersCollected,
    playersRequired: topN === null ? minCalibrationPlayers : 1,
  };
}

/**
 * Whether a score counts for the bar: scores of free attempts calibrate, and all scores of a top_n
 * challenge move its bar.
 */
export function countsForBar({
  attempt,
  terms,
}: {
  readonly attempt: Pick<Attempt, 'threshold'>;
  readonly terms: Pick<AttemptTerms, 'prizeStructure'>;
}): boolean {
  return attempt.threshold === null || terms.prizeStructure === 'top_n';
}
