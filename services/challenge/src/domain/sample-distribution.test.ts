import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { edgesOfBins, rankOfPercent } from './sample-distribution.ts';

describe('quantiles', () => {
  it('a quantile is the sample of the nearest rank, without rounding errors', () => {
    expect([1, 50, 99].map((percent) => rankOfPercent(100, percent))).toEqual([1, 50, 99]);
    expect([1, 50, 99].map((percent) => rankOfPercent(3, percent))).toEqual([1, 2, 3]);
    expect([rankOfPercent(1, 1), rankOfPercent(1, 99), rankOfPercent(300, 7)]).toEqual([1, 1, 21]);
  });

  it('a quantile is the least sample with its share of all samples at or below it', () => {
    const any = [fc.integer({ min: 1, max: 10_000_000 }), fc.integer({ min: 1, max: 99 })] as const;
    fc.assert(
      fc.property(...any, (samples, percent) => {
        const rank = rankOfPercent(samples, percent);
        expect(rank * 100).toBeGreaterThanOrEqual(percent * samples);
        if (rank > 1) expect((rank - 1) * 100).toBeLessThan(percent * samples);
      }),
    );
  });
});

describe('the bins of a histogram', () => {
  it('the bins of a histogram are as many as the square root of the samples, at most 50, and one if all scores are equal', () => {
    expect(edgesOfBins({ lowest: 0, highest: 10, samples: 16 })).toEqual([0, 2.5, 5, 7.5]);
    expect(edgesOfBins({ lowest: 1, highest: 2, samples: 10_000_000 })).toHaveLength(50);
    expect(edgesOfBins({ lowest: 7, highest: 7, samples: 100 })).toEqual([7]);
  });

  it('the bins of a histogram ascend from the lowest score to below the highest, whatever the scores', () => {
    const score = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(score, score, fc.integer({ min: 2, max: 10_000 }), (one, other, samples) => {
        const [lowest, highest] = [Math.min(one, other), Math.max(one, other)];
        const edges = edgesOfBins({ lowest, highest, samples });
        expect(edges[0]).toBe(lowest);
        for (const [index, edge] of edges.slice(1).entries()) {
          expect(edge).toBeGreaterThan(edges[index] ?? Number.POSITIVE_INFINITY);
          expect(edge).toBeLessThan(highest);
        }
        expect(edges.length).toBeLessThanOrEqual(50);
      }),
    );
  });
});
