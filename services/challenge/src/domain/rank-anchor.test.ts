import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anchorWith, distanceTo, isAnchorDue, nearestAnchor, type RankAnchor, rankOfKthBest } from './rank-anchor.ts';

const SCORES = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 60 });

function anchorOf(scores: readonly number[], score: number): RankAnchor {
  const below = scores.filter((one) => one < score).length;
  return { score, below, atOrBelow: below + scores.filter((one) => one === score).length };
}

describe('an anchor', () => {
  it('an anchor with added samples equals the anchor of a full count', () => {
    fc.assert(
      fc.property(SCORES, SCORES, fc.nat(12), (before, added, score) => {
        expect(anchorWith(anchorOf(before, score), added)).toEqual(anchorOf([...before, ...added], score));
      }),
    );
  });

  it('the distance from an anchor to a rank is the number of steps through the sorted samples', () => {
    fc.assert(
      fc.property(SCORES, fc.nat(12), fc.nat(59), (scores, score, index) => {
        const sorted = scores.toSorted((one, other) => one - other);
        const rank = (index % sorted.length) + 1;
        const anchor = anchorOf(scores, score);
        const distance = distanceTo(anchor, rank);
        const above = sorted.filter((one) => one > score);
        const below = sorted.filter((one) => one < score).reverse();
        const reached = distance === 0 ? score : (rank > anchor.below ? above : below)[distance - 1];
        expect(reached).toBe(sorted[rank - 1]);
      }),
    );
  });

  it('an anchor is moved once its distance exceeds a 64th of the samples', () => {
    const anchor = { score: 5, below: 5_000, atOrBelow: 5_001 };
    expect(isAnchorDue(null, 1, 9_999)).toBe(false);
    expect(isAnchorDue(null, 1, 10_000)).toBe(true);
    expect(isAnchorDue(anchor, 5_001 + 1_000, 64_000)).toBe(false);
    expect(isAnchorDue(anchor, 5_001 + 1_001, 64_000)).toBe(true);
    expect(isAnchorDue(anchor, 5_001 - 1_001, 64_000)).toBe(true);
  });
});

describe('the nearest anchor', () => {
  it('an end of the samples is the nearest anchor if no other anchor is nearer', () => {
    const anchor = { score: 5, below: 50, atOrBelow: 60 };
    const nearestTo = (rank: number) => nearestAnchor([anchor], rank, 100).score;
    expect([1, 25, 26, 55, 80, 81, 100].map(nearestTo)).toEqual([
      Number.NEGATIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      5,
      5,
      5,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
  });
});

it('the k-th best of the samples counts from the highest, or from the lowest if lower is better', () => {
  expect([1, 3, 10].map((k) => rankOfKthBest(k, 10, 'higher_is_better'))).toEqual([10, 8, 1]);
  expect([1, 3, 10].map((k) => rankOfKthBest(k, 10, 'lower_is_better'))).toEqual([1, 3, 10]);
});
