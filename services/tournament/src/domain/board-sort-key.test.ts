import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { row, rowPair, rules } from './board-row.arbitrary.ts';
import { SORT_KEY_BYTES, sortKeyOf } from './board-sort-key.ts';
import { NOW, ROUND_TERMS, WITH_TIEBREAK } from './example.ts';
import { type BoardRow, compareRows } from './ranking.ts';

const ROW: BoardRow = { score: 1, tiebreak: null, at: new Date(1), entryId: '00112233-4455-8677-8899-AABBCCDDEEFF' };

describe('a sort key', () => {
  it('a sort key has the bytes of its documented layout', () => {
    const id = '00112233445586778899aabbccddeeff';
    expect(sortKeyOf(ROW, ROUND_TERMS).toString('hex')).toBe(
      `400fffffffffffff${'01'}${'00'.repeat(8)}000000000001${id}`,
    );
    expect(sortKeyOf({ ...ROW, tiebreak: 1 }, WITH_TIEBREAK).toString('hex')).toBe(
      `400fffffffffffff${'00'}${'bff0000000000000'}000000000001${id}`,
    );
    expect(sortKeyOf({ ...ROW, score: -1 }, { ...ROUND_TERMS, direction: 'lower_is_better' }).toString('hex')).toBe(
      `400fffffffffffff${'01'}${'00'.repeat(8)}000000000001${id}`,
    );
  });

  it('a sort key is the same for 0 and -0', () => {
    for (const direction of ['higher_is_better', 'lower_is_better'] as const) {
      const by = { ...ROUND_TERMS, direction };
      expect(sortKeyOf({ ...ROW, score: -0 }, by)).toEqual(sortKeyOf({ ...ROW, score: 0 }, by));
    }
  });

  it('a row that cannot be on a board has no sort key', () => {
    for (const score of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(() => sortKeyOf({ ...ROW, score }, ROUND_TERMS)).toThrow(RangeError);
      expect(() => sortKeyOf({ ...ROW, tiebreak: score }, WITH_TIEBREAK)).toThrow(RangeError);
    }
    for (const at of [new Date(-1), new Date(2 ** 48), new Date(Number.NaN)]) {
      expect(() => sortKeyOf({ ...ROW, at }, ROUND_TERMS)).toThrow(RangeError);
    }
    expect(() => sortKeyOf({ ...ROW, entryId: 'entry', at: NOW }, ROUND_TERMS)).toThrow(RangeError);
  });

  it('a sort key orders the board byte by byte as the ranking does, for any finite numbers', () => {
    fc.assert(
      fc.property(rowPair, rules, ([one, other], by) => {
        const byBytes = Buffer.compare(sortKeyOf(one, by), sortKeyOf(other, by));
        expect(byBytes).toBe(Math.sign(compareRows(one, other, by)));
      }),
      { numRuns: 10_000 },
    );
  });

  it('a sort key has a fixed length, so that no sort key is a prefix of another', () => {
    fc.assert(fc.property(row, rules, (one, by) => sortKeyOf(one, by).length === SORT_KEY_BYTES));
  });
});
