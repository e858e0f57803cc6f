// Bars that are interpolated between a partner's percentiles.
import { barFromPercentiles, type Distribution, issuesOfDistribution } from '@laurel/challenge/domain/calibration';
import {
  bisect,
  judge,
  type Measured,
  meetsConfidence,
  percent,
  percents,
  rateInterval,
  SEED,
  shareOf,
  spread,
  type Table,
} from './bar-intervals.ts';
import { createRandom } from './mix.ts';
import { type Random, SHAPES, type Shape } from './score-shapes.ts';

const TARGETS = [0.05, 0.2, 0.5];
const SIZES = [500, 10_000];
const SHARES = [0.05, 0.25, 0.5, 0.75, 0.95];

/**
 * Bars of percentiles. The interval is that of both percentiles around the target. If scores tie
 * too much, the percentiles do not ascend.
 */
export function measureSeededBars(runs: number, sizes = SIZES): Measured {
  const rows: Table = [
    ['bars of percentiles', 'target', 'n', '99 % interval', '99 % of runs', 'within', 'exact percentiles'],
  ];
  let isWithin = true;
  for (const shape of SHAPES.filter((one) => one.isIndependent)) {
    for (const target of TARGETS) {
      for (const size of sizes) {
        const random = createRandom(SEED);
        const interval = seededInterval(target, size);
        const measured = Array.from({ length: runs }, () => percentilesOf(drawMany(shape, size, random)))
          .filter((percentiles) => issuesOfDistribution(percentiles, size).length === 0)
          .map((percentiles) => judge(shape, barFromPercentiles(percentiles, target, 'higher_is_better'), interval));
        const described = [`seeded, ${shape.name}`, target, size, percents(interval)] as const;
        if (measured.length === 0) {
          rows.push([...described, 'refused: they do not ascend', '', '']);
          continue;
        }
        isWithin &&= meetsConfidence(measured.map((one) => one.isWithin));
        const within = shareOf(measured, (one) => one.isWithin);
        rows.push([...described, spread(measured), within, exactRate(shape, target)]);
      }
    }
  }
  return { rows, isWithin };
}

function drawMany(shape: Shape, size: number, random: Random): Float64Array {
  return Float64Array.from({ length: size }, () => shape.player(random).score()).sort();
}

function percentilesOf(ascending: Float64Array): Distribution {
  const at = (share: number) => ascending[Math.max(1, Math.round(share * ascending.length)) - 1] ?? 0;
  return { p5: at(0.05), p25: at(0.25), p50: at(0.5), p75: at(0.75), p95: at(0.95) };
}

/**
 * Interpolates between the percentiles around the target, whatever the scores between; each has a
 * sampling error.
 */
function seededInterval(target: number, size: number): readonly [number, number] {
  const below = SHARES.findLast((share) => share <= target) ?? SHARES[0] ?? 0;
  const above = SHARES.find((share) => share >= target) ?? below;
  const rank = (share: number) => size + 1 - Math.round((1 - share) * size);
  return [rateInterval(size, rank(below))[0], rateInterval(size, rank(above))[1]];
}

/**
 * The pass rate of a bar of exact percentiles: the effect of interpolation alone. Tied scores have
 * no exact percentiles.
 */
function exactRate(shape: Shape, target: number): string {
  if (shape.exceed !== shape.reach) return '';
  const [p95 = 0, p75 = 0, p50 = 0, p25 = 0, p5 = 0] = SHARES.map((share) => scoreAt(shape, share));
  return percent(shape.reach(barFromPercentiles({ p5, p25, p50, p75, p95 }, target, 'higher_is_better')));
}

function scoreAt(shape: Shape, share: number): number {
  return bisect(-1_000, 10_000, (score) => shape.reach(score) < share);
}
