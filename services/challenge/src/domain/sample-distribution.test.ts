import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { binsOfSamples, edgesOfBins, histogramOf, rankOfPercent } from './sample-distribution.ts';

describe('quantiles', () => {
  it('a quantile is the sample of the nearest rank, without rounding errors', () => {
    expect([1, 50, 99].map((percent) => rankOfPercent(100, percent))).toEqual([1, 50, 99]);
    expect([1, 50, 99].map((percent) => rankOfPercent(3, percent))).toEqual([1, 2, 3]);
    expect([rankOfPercent(1, 1), rankOfPercent(1, 99), rankOfPercent(300, 7)]).toEqual([1, 1, 21]);
  });

  it('a quantile is the least sample that has its share of the samples at or below it', () => {
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
  it('a histogram has as many bins as the square root of the samples, at most 50', () => {
    const edgesOf = (samples: number, lowest: number, highest: number) =>
      edgesOfBins({ lowest, highest, bins: binsOfSamples(samples) });
    expect(edgesOf(16, 0, 10)).toEqual([0, 2.5, 5, 7.5]);
    expect(edgesOf(10_000_000, 1, 2)).toHaveLength(50);
    expect(edgesOf(100, 7, 7)).toEqual([7]);
  });

  it('the bins of a histogram ascend from the lowest score, whatever the scores', () => {
    const score = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(score, score, fc.integer({ min: 2, max: 10_000 }), (one, other, samples) => {
        const [lowest, highest] = [Math.min(one, other), Math.max(one, other)];
        const edges = edgesOfBins({ lowest, highest, bins: binsOfSamples(samples) });
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

describe('a histogram', () => {
  const score = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
  const scores = fc
    .array(score, { minLength: 1, maxLength: 200 })
    .map((all) => all.toSorted((one, other) => one - other));

  it('a histogram has no bins without scores', () => {
    expect(histogramOf([], 30)).toEqual([]);
  });

  it('a histogram counts every score exactly once', () => {
    fc.assert(
      fc.property(scores, fc.integer({ min: 5, max: 100 }), (ascending, bins) => {
        const histogram = histogramOf(ascending, bins);
        expect(histogram.length).toBeLessThanOrEqual(bins);
        expect([histogram[0]?.from, histogram.at(-1)?.to]).toEqual([ascending[0], ascending.at(-1)]);
        for (const [bin, { from, to, count }] of histogram.entries()) {
          const next = histogram[bin + 1];
          if (next !== undefined) expect(to).toBe(next.from);
          const isInside = (one: number) => one >= from && (one < to || next === undefined);
          expect(count).toBe(ascending.filter(isInside).length);
        }
        expect(histogram.reduce((total, { count }) => total + count, 0)).toBe(ascending.length);
      }),
    );
  });
});
