/**
 * How operators and developers see the scores of a challenge: quantiles by nearest rank, and a
 * histogram. Its bins are equally wide, from the lowest to the highest score. A bin begins at its
 * edge; the last one includes the highest score.
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

/** The number of bins: the square root of the samples, at most 50. */
export function binsOfSamples(samples: number): number {
  return Math.min(MAX_BINS, Math.ceil(Math.sqrt(samples)));
}

/**
 * Where each bin begins, strictly ascending. There are fewer bins if the scores are too close to
 * have enough numbers between them.
 */
export function edgesOfBins({
  lowest,
  highest,
  bins,
}: {
  readonly lowest: number;
  readonly highest: number;
  /** The most bins. */
  readonly bins: number;
}): readonly number[] {
  if (lowest === highest) return [lowest];
  const edges = [lowest];
  for (let bin = 1; bin < bins; bin += 1) {
    // Both terms are finite even if the difference of the scores is not.
    const edge = lowest * (1 - bin / bins) + highest * (bin / bins);
    if (edge > (edges.at(-1) ?? lowest) && edge < highest) edges.push(edge);
  }
  return edges;
}

export type HistogramBin = { readonly from: number; readonly to: number; readonly count: number };

/** Counts ascending scores in bins. Without scores there are no bins. */
export function histogramOf(ascending: readonly number[], bins: number): readonly HistogramBin[] {
  const [lowest, highest] = [ascending[0], ascending.at(-1)];
  if (lowest === undefined || highest === undefined) return [];
  const edges = edgesOfBins({ lowest, highest, bins });
  let counted = 0;
  return edges.map((from, bin) => {
    const next = edges[bin + 1];
    const first = counted;
    while (counted < ascending.length && (next === undefined || (ascending[counted] ?? next) < next)) counted += 1;
    return { from, to: next ?? highest, count: counted - first };
  });
}
