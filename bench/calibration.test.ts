import { describe, expect, test } from 'vitest';
import { measureDrift } from './drift.ts';
import { measureFairShare, measureSampledBars } from './sampled-bars.ts';
import { measureSeededBars } from './seeded-bars.ts';
import { table } from './statistics.ts';

// As `LAUREL_BENCH_PARTS=calibration npm run bench`, with fewer runs.
describe('challenges in simulation', () => {
  test('bars of observed and of listened samples have a pass rate within its 99 % interval in 99 % of runs', () => {
    const { rows, isWithin } = measureSampledBars(400, [{ target: 0.2, samples: 200 }]);
    console.log(table(rows));
    expect(isWithin).toBe(true);
    expect(rows).toHaveLength(13);
  });

  test('bars of seeded percentiles have a pass rate within their 99 % interval in 99 % of runs', () => {
    const { rows, isWithin } = measureSeededBars(400, [500]);
    console.log(table(rows));
    expect(isWithin).toBe(true);
  });

  test("one player's 180 runs of 200 leave a bar that others pass, and would not without a fair share", () => {
    const { rows } = measureFairShare(100);
    console.log(table(rows));
    const medians = rows.slice(1).map((row) => Number.parseFloat(String(row[2])));
    expect(medians[0]).toBeGreaterThan(8);
    expect(medians[1]).toBe(0);
    expect(medians[2]).toBeLessThan(25);
    expect(medians[3]).toBe(100);
  });

  test('challenges within the band are not suspended, and those far outside it soon are', () => {
    const { tables, isWithin } = measureDrift(100);
    for (const rows of tables) console.log(table(rows));
    expect(isWithin).toBe(true);
  });
});
