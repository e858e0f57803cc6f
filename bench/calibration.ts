// Players with scores from known distributions calibrate challenges, and the true pass rate of each
// bar is compared with its 99 % interval. Drift monitors follow challenges whose pass rate is
// known. Pure functions and a seed: every run prints the same figures.
import type { Table } from './bar-intervals.ts';
import { measureDrift } from './drift.ts';
import { measureFairShare, measureSampledBars } from './sampled-bars.ts';
import { measureSeededBars } from './seeded-bars.ts';

const SAMPLED_RUNS = 5_000;
const SEEDED_RUNS = 1_000;
const CHALLENGES = 1_000;

export function measureCalibration(): { readonly tables: readonly Table[]; readonly isWithin: boolean } {
  const bars = [measureSampledBars(SAMPLED_RUNS), measureSeededBars(SEEDED_RUNS), measureFairShare(SEEDED_RUNS)];
  const drift = measureDrift(CHALLENGES);
  return {
    tables: [...bars.map(({ rows }) => rows), ...drift.tables],
    isWithin: drift.isWithin && bars.every(({ isWithin }) => isWithin),
  };
}
