/**
 * How operators see the samples of a challenge: quantiles by nearest rank, and a histogram. Its
 * bins are equally wide, from the lowest to the highest score, and as many as the square root of
 * the samples, at most 50. A bin begins at its edge; the last one includes the highest score.
 */

/** The quantiles that are shown, in per cent. */
export const QUANTILE_PERCENTS = [1, 5, 10, 25, 50, 75, 90, 95, 99] as const;

const MAX_BINS = 50;

/**
 * The rank, from 1 for the lowest, of the least sample with at least `percent` of all samples at or
 * below it.
 */
export function rankOfPercent(samples: number, percent: number): number {
  return Math.max(1, Math.ceil((percent * samples) / 100));
}

/**
 * Where each bin begins, strictly ascending. There are fewer bins if the scores are too close to
 * have enough numbers between them.
 */
export function edgesOfBins({
  lowest,
  highest,
  samples,
}: {
  readonly lowest: number;
  readonly highest: number;
  readonly samples: number;
}): readonly number[] {
  if (lowest === highest) return [lowest];
  const bins = Math.min(MAX_BINS, Math.ceil(Math.sqrt(samples)));
  const edges = [lowest];
  for (let bin = 1; bin < bins; bin += 1) {
    // Both terms are finite even if the difference of the scores is not.
    const edge = lowest * (1 - bin / bins) + highest * (bin / bins);
    if (edge > (edges.at(-1) ?? lowest) && edge < highest) edges.push(edge);
  }
  return edges;
}
