/**
 * How a challenge gets its bar (docs/contract/rules.md, "Calibration").
 *
 * From samples: once there are `min_calibration_n` of them from `min_calibration_players` players,
 * the bar is the sample that `target_pass_rate` of them reach (nearest rank from the better end).
 * One player's samples count up to a fair share, so that no player places a bar alone.
 *
 * From five percentiles: the same quantile by linear interpolation, no further out than p5 and p95.
 */
import { MIN_SAMPLE_SIZE } from '@laurel/values/limits';
import type { ChallengeTerms, ThresholdDirection } from './challenge.ts';

/** A partner's percentiles, ascending. */
export type Distribution = {
  readonly p5: number;
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly p95: number;
};

/**
 * The share of players below each percentile. By symmetry, also the share above each percentile if
 * they are read in descending order.
 */
const SHARES = [0.05, 0.25, 0.5, 0.75, 0.95] as const;
/**
 * Weights below this share of the greatest weight are left out: they are too small to change a
 * comparison with a confidence.
 */
const NEGLIGIBLE = 1e-30;

/**
 * The most samples of one player that count: twice an even share. If 200 samples of 20 players are
 * required, one account gives at most 20, which is 10 %. The required players always suffice if
 * each gives this many. With one or two required players the only limit is the number of samples.
 */
export function fairShareOf({
  minCalibrationN,
  minCalibrationPlayers,
}: Pick<ChallengeTerms, 'minCalibrationN' | 'minCalibrationPlayers'>): number {
  return Math.max(1, Math.ceil((2 * minCalibrationN) / minCalibrationPlayers));
}

export function isCalibrated(
  { collected, playersCollected }: { readonly collected: number; readonly playersCollected: number },
  terms: Pick<ChallengeTerms, 'minCalibrationN' | 'minCalibrationPlayers'>,
): boolean {
  return collected >= terms.minCalibrationN && playersCollected >= terms.minCalibrationPlayers;
}

/** The bar is the k-th best of the samples, in the challenge's direction; k counts from 1. */
export function rankOfBar(samples: number, targetPassRate: number): number {
  return Math.max(1, Math.round(targetPassRate * samples));
}

/**
 * The ranks of two samples, counted from the best. With at least this confidence, the bar of
 * infinitely many samples lies between these two samples, both included. The number of n
 * independent samples that reach that bar is binomial, whatever the distribution of scores. If
 * there are too few samples to bound a side, the rank on that side is that of the outermost sample.
 */
export function intervalRanksOfBar(
  samples: number,
  targetPassRate: number,
  confidence = 0.99,
): readonly [best: number, worst: number] {
  const mode = Math.min(samples, Math.floor((samples + 1) * targetPassRate));
  const odds = targetPassRate / (1 - targetPassRate);
  // The probability that exactly a number of samples reaches the bar, divided by that of the most
  // probable number (`mode`): `fewer` for the numbers below it, `more` for those above it. Each
  // list ends after a few standard deviations, so it is short even for millions of samples.
  const fewer = weightsFrom(mode, (count) => count / ((samples - count + 1) * odds));
  const more = weightsFrom(samples - mode, (left) => (left * odds) / (samples - left + 1));
  const total = 1 + sumOf(fewer) + sumOf(more);
  const tail = ((1 - confidence) / 2) * total;
  return [Math.max(1, mode - withoutTail(fewer, tail)), Math.min(samples, mode + 1 + withoutTail(more, tail))];
}

/**
 * The bar that the target share of a distribution reaches. A higher target never makes it harder.
 */
export function barFromPercentiles(
  { p5, p25, p50, p75, p95 }: Distribution,
  targetPassRate: number,
  direction: ThresholdDirection,
): number {
  const scores = direction === 'lower_is_better' ? [p5, p25, p50, p75, p95] : [p95, p75, p50, p25, p5];
  const points = SHARES.map((share, index) => ({ share, score: scores[index] ?? p50 }));
  const from = points.findLast(({ share }) => share <= targetPassRate);
  const to = points.find(({ share }) => share > targetPassRate);
  if (from === undefined) return scores[0] ?? p5;
  if (to === undefined) return from.score;
  const weight = (targetPassRate - from.share) / (to.share - from.share);
  // The value is computed in halves, because the difference of two finite scores may not be finite.
  const half = (to.score / 2 - from.score / 2) * weight;
  const score = from.score + half + half;
  return Math.max(Math.min(from.score, to.score), Math.min(Math.max(from.score, to.score), score));
}

/** The validation issues of a partner's distribution, each as a sentence; empty if it is valid. */
export function issuesOfDistribution(distribution: Distribution, sampleSize: number): readonly string[] {
  const { p5, p25, p50, p75, p95 } = distribution;
  const rules: readonly (readonly [boolean, string])[] = [
    [[p5, p25, p50, p75, p95].every(Number.isFinite), 'the percentiles must be finite numbers'],
    [p5 < p25 && p25 < p50 && p50 < p75 && p75 < p95, 'the percentiles must ascend: p5 < p25 < p50 < p75 < p95'],
    [
      Number.isSafeInteger(sampleSize) && sampleSize >= MIN_SAMPLE_SIZE,
      `sample_size must be a whole number of at least ${MIN_SAMPLE_SIZE}`,
    ],
  ];
  return rules.filter(([holds]) => !holds).map(([, issue]) => issue);
}

/**
 * The weights of the counts on one side of the mode, nearest first. `ratio` returns a weight
 * divided by the weight before it; its argument is the number of counts that are left.
 */
function weightsFrom(left: number, ratio: (left: number) => number): readonly number[] {
  const weights: number[] = [];
  let weight = 1;
  for (let remaining = left; remaining > 0; remaining -= 1) {
    weight *= ratio(remaining);
    if (weight < NEGLIGIBLE) break;
    weights.push(weight);
  }
  return weights;
}

/**
 * Cuts the outermost weights that together stay within the tail. Returns how many weights remain,
 * nearest first.
 */
function withoutTail(weights: readonly number[], tail: number): number {
  let beyond = 0;
  return (
    weights.findLastIndex((weight) => {
      beyond += weight;
      return beyond > tail;
    }) + 1
  );
}

function sumOf(weights: readonly number[]): number {
  return weights.reduceRight((sum, weight) => sum + weight, 0);
}
