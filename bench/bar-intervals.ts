// The 99 % interval of the pass rate of a bar of n samples, computed differently than in the
// service, and a summary of runs.
import type { Shape } from './score-shapes.ts';
import type { table } from './statistics.ts';

/** Rows for the table of statistics.ts. */
export type Table = Parameters<typeof table>[0][number][];

/** `isWithin`: the bars have the claimed pass rates. */
export type Measured = { readonly rows: Table; readonly isWithin: boolean };

export const SEED = 14;
export const CONFIDENCE = 0.99;
/** How many standard deviations of the simulation a share of runs may be below 99 %. */
const TOLERANCE = 3.3;

/**
 * If scores tie, the bar's pass rate may be any value from the share above it to the share at or
 * above it.
 */
export function judge(
  { reach, exceed }: Pick<Shape, 'reach' | 'exceed'>,
  bar: number,
  [low, high]: readonly [number, number],
) {
  return { rate: reach(bar), isWithin: exceed(bar) <= high && low <= reach(bar) };
}

const intervals = new Map<string, readonly [number, number]>();

/**
 * With n independent samples, the share of all scores that reaches the k-th best has the
 * distribution Beta(k, n + 1 - k).
 */
export function rateInterval(n: number, rank: number): readonly [number, number] {
  const key = `${n} ${rank}`;
  const [low, high] = intervals.get(key) ?? [
    bisect(0, 1, (rate) => chanceOfReaching(n, rank, rate) > (1 - CONFIDENCE) / 2),
    bisect(0, 1, (rate) => chanceOfReaching(n, rank, rate) > (1 + CONFIDENCE) / 2),
  ];
  intervals.set(key, [low, high]);
  return [low, high];
}

/**
 * The chance that at least `rank` of n samples reach a bar that this share of all scores reaches,
 * summed from logarithms.
 */
function chanceOfReaching(n: number, rank: number, rate: number): number {
  let sum = 0;
  let log = n * Math.log1p(-rate);
  for (let count = 0; count < rank; count += 1) {
    sum += Math.exp(log);
    log += Math.log((n - count) / (count + 1)) + Math.log(rate) - Math.log1p(-rate);
  }
  return 1 - sum;
}

/** The least value from which the condition holds. */
export function bisect(from: number, to: number, holds: (value: number) => boolean): number {
  let [low, high] = [from, to];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Whether so many measurements are within their intervals as `CONFIDENCE` promises. */
export function meetsConfidence(within: readonly boolean[]): boolean {
  const share = within.filter(Boolean).length / within.length;
  return share >= CONFIDENCE - TOLERANCE * Math.sqrt((CONFIDENCE * (1 - CONFIDENCE)) / within.length);
}

export function spread(measured: readonly { readonly rate: number }[]): string {
  const rates = measured.map(({ rate }) => rate).toSorted((one, other) => one - other);
  const at = (share: number) => rates[Math.min(rates.length - 1, Math.floor(share * rates.length))] ?? 0;
  return percents([at((1 - CONFIDENCE) / 2), at((1 + CONFIDENCE) / 2)]);
}

export function shareOf<Judged>(judged: readonly Judged[], holds: (one: Judged) => boolean): string {
  return percent(judged.filter(holds).length / judged.length);
}

export function percents([low, high]: readonly [number, number]): string {
  return `${percent(low)} to ${percent(high)}`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
