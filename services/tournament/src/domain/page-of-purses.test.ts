import { MAX_PAID_RANKS } from '@laurel/values/limits';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowsOfPage } from './page-of-purses.ts';

const MAX_RANKS = 20_000;
const sumOf = (ranks: readonly number[]) => ranks.reduce((sum, more) => sum + more, 0);

describe('a page of a list with purses', () => {
  it('a page of a list with purses is as long as its limit and the total number of ranks allow', () => {
    const ranks = fc.array(fc.integer({ min: 1, max: MAX_PAID_RANKS }), { maxLength: 300 });
    fc.assert(
      fc.property(ranks, fc.integer({ min: 1, max: 200 }), (purses, limit) => {
        const rows = rowsOfPage(purses, limit);
        expect(rows).toBeLessThanOrEqual(Math.min(limit, purses.length));
        if (purses.length > 0) expect(rows).toBeGreaterThanOrEqual(1);
        expect(sumOf(purses.slice(0, rows))).toBeLessThanOrEqual(MAX_RANKS);
        if (rows < Math.min(limit, purses.length)) {
          expect(sumOf(purses.slice(0, rows + 1))).toBeGreaterThan(MAX_RANKS);
        }
      }),
    );
  });

  it('a page of a list with purses has one row even if that purse alone exceeds the limit', () => {
    expect(rowsOfPage([MAX_RANKS + 1, 1], 200)).toBe(1);
    expect(rowsOfPage([], 200)).toBe(0);
  });
});
