/**
 * Which scores count towards the calibration of a challenge (docs/contract/rules.md,
 * "Calibration"). Each score is decided on the progress after the scores before it. All of these
 * must hold:
 *
 * 1. The sample is not recorded yet: it counts once, however often it comes.
 * 2. The challenge is calibrating. The sample that completes the calibration is the last; a score
 *    that comes later, or while the challenge is suspended or closed, does not count.
 * 3. The score is inside the plausible window.
 * 4. Its player has fewer samples than the fair share, so that one account alone cannot place the
 *    bar.
 */
import { fairShareOf, isCalibrated } from './calibration.ts';
import type { Challenge } from './challenge.ts';
import { isPlausible } from './plausibility.ts';

/** A score that may count for the bar of its challenge. */
export type BarSample = {
  readonly challengeId: string;
  /** The attempt that scored, or the report that brought a listened score. */
  readonly sampleId: string;
  /** The player as `playerIdentity` returns it. */
  readonly player: string;
  readonly score: number;
};

/** The stored progress of a calibration, read while its challenge's row is locked. */
export type StoredProgress = {
  readonly challenge: Challenge;
  /** The ids of the batch's samples that are recorded already. */
  readonly recorded: ReadonlySet<string>;
  /** How many samples each player of the batch has. The map lacks players without samples. */
  readonly samplesOfPlayers: ReadonlyMap<string, number>;
};

export type CountedSamples = {
  readonly counted: readonly BarSample[];
  /** How many samples each player of `counted` has now. */
  readonly samplesOfPlayers: ReadonlyMap<string, number>;
  readonly collected: number;
  readonly playersCollected: number;
  readonly isComplete: boolean;
};

/** The samples are of this challenge, in the order in which they came. */
export function countSamples(samples: readonly BarSample[], stored: StoredProgress): CountedSamples {
  const { challenge, recorded } = stored;
  const { terms } = challenge;
  const fairShare = fairShareOf(terms);
  const counted = new Map<string, BarSample>();
  const changed = new Map<string, number>();
  let { collected, playersCollected } = challenge;
  let isComplete = false;
  for (const sample of challenge.status === 'calibrating' ? samples : []) {
    if (recorded.has(sample.sampleId) || counted.has(sample.sampleId)) continue;
    if (!isPlausible(sample.score, terms)) continue;
    const before = changed.get(sample.player) ?? stored.samplesOfPlayers.get(sample.player) ?? 0;
    if (before >= fairShare) continue;
    counted.set(sample.sampleId, sample);
    changed.set(sample.player, before + 1);
    collected += 1;
    if (before === 0) playersCollected += 1;
    isComplete = isCalibrated({ collected, playersCollected }, terms);
    if (isComplete) break;
  }
  return { counted: [...counted.values()], samplesOfPlayers: changed, collected, playersCollected, isComplete };
}
