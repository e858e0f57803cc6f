/**
 * Finds the sample of a given rank in an index that is only read in order. It takes as many steps
 * as the rank is away from a known rank.
 *
 * An anchor is such a known rank: a score, with the number of samples below it and the number of
 * samples at or below it. Each new sample costs one comparison to keep these numbers true, so a
 * calibration keeps an anchor near the rank of its future bar. When the last sample arrives the bar
 * is a few steps away, however many samples there are.
 *
 * The anchor moves once it is further from the rank of the bar than a 64th of the samples. Before
 * it is so far away, at least as many new samples must arrive. So the steps stay in proportion to
 * the new samples, and no transaction takes more steps than a 64th of the samples. Both ends of the
 * samples are anchors too, and are near enough while there are few samples.
 *
 * Ranks count from 1 for the lowest sample.
 */
import type { ThresholdDirection } from './challenge.ts';

export type RankAnchor = { readonly score: number; readonly below: number; readonly atOrBelow: number };

// Without an anchor, a search among this many samples takes at most half as many steps from an end:
// some milliseconds.
const MIN_SAMPLES = 10_000;
const MAX_DISTANCE_SHARE = 1 / 64;

/** The rank of the k-th best sample. */
export function rankOfKthBest(k: number, samples: number, direction: ThresholdDirection): number {
  return direction === 'higher_is_better' ? samples - k + 1 : k;
}

/** How many steps the sample of this rank is from the anchor; 0 if the anchor has its score. */
export function distanceTo({ below, atOrBelow }: RankAnchor, rank: number): number {
  return rank <= below ? below - rank + 1 : Math.max(0, rank - atOrBelow);
}

/**
 * The anchor from which the sample of this rank is the fewest steps away: one of these, or an end
 * of the samples.
 */
export function nearestAnchor(anchors: readonly RankAnchor[], rank: number, samples: number): RankAnchor {
  const lowest = { score: Number.NEGATIVE_INFINITY, below: 0, atOrBelow: 0 };
  const highest = { score: Number.POSITIVE_INFINITY, below: samples, atOrBelow: samples };
  return [lowest, ...anchors].reduce(
    (nearest, anchor) => (distanceTo(anchor, rank) < distanceTo(nearest, rank) ? anchor : nearest),
    highest,
  );
}

/** The same anchor, with these scores added to the samples. */
export function anchorWith(anchor: RankAnchor, scores: readonly number[]): RankAnchor {
  const { score } = anchor;
  return {
    score,
    below: anchor.below + scores.filter((one) => one < score).length,
    atOrBelow: anchor.atOrBelow + scores.filter((one) => one <= score).length,
  };
}

/** Whether a calibration's anchor has to move to the sample of this rank. */
export function isAnchorDue(anchor: RankAnchor | null, rank: number, samples: number): boolean {
  if (samples < MIN_SAMPLES) return false;
  return anchor === null || distanceTo(anchor, rank) > samples * MAX_DISTANCE_SHARE;
}
