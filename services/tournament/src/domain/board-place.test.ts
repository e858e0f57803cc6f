import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PLACE_BYTES, placeOf } from './board-place.ts';
import { row, rowPair, rules } from './board-row.arbitrary.ts';
import { NOW, ROUND_TERMS, WITH_TIEBREAK } from './example.ts';
import { type BoardRow, compareRows } from './ranking.ts';

const ROW: BoardRow = { score: 1, tiebreak: null, at: new Date(1), entryId: '00112233-4455-8677-8899-AABBCCDDEEFF' };

describe('a place', () => {
  it('a place has the bytes of its documented layout', () => {
    const id = '00112233445586778899aabbccddeeff';
    expect(placeOf(ROW, ROUND_TERMS).toString('hex')).toBe(`400fffffffffffff${'01'}${'00'.repeat(8)}000000000001${id}`);
    expect(placeOf({ ...ROW, tiebreak: 1 }, WITH_TIEBREAK).toString('hex')).toBe(
      `400fffffffffffff${'00'}${'bff0000000000000'}000000000001${id}`,
    );
    expect(placeOf({ ...ROW, score: -1 }, { ...ROUND_TERMS, direction: 'lower_is_better' }).toString('hex')).toBe(
      `400fffffffffffff${'01'}${'00'.repeat(8)}000000000001${id}`,
    );
  });

  it('a place is the same for 0 and -0', () => {
    for (const direction of ['higher_is_better', 'lower_is_better'] as const) {
      const by = { ...ROUND_TERMS, direction };
      expect(placeOf({ ...ROW, score: -0 }, by)).toEqual(placeOf({ ...ROW, score: 0 }, by));
    }
  });

  it('a place is not made for a row that cannot be on a board', () => {
    for (const score of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(() => placeOf({ ...ROW, score }, ROUND_TERMS)).toThrow(RangeError);
      expect(() => placeOf({ ...ROW, tiebreak: score }, WITH_TIEBREAK)).toThrow(RangeError);
    }
    for (const at of [new Date(-1), new Date(2 ** 48), new Date(Number.NaN)]) {
      expect(() => placeOf({ ...ROW, at }, ROUND_TERMS)).toThrow(RangeError);
    }
    expect(() => placeOf({ ...ROW, entryId: 'entry', at: NOW }, ROUND_TERMS)).toThrow(RangeError);
  });

  it('a place orders the board byte by byte as the ranking does, for any finite numbers', () => {
    fc.assert(
      fc.property(rowPair, rules, ([one, other], by) => {
        const byBytes = Buffer.compare(placeOf(one, by), placeOf(other, by));
        expect(byBytes).toBe(Math.sign(compareRows(one, other, by)));
      }),
      { numRuns: 10_000 },
    );
  });

  it('a place has a fixed length, so that no place is a prefix of another', () => {
    fc.assert(fc.property(row, rules, (one, by) => placeOf(one, by).length === PLACE_BYTES));
  });
});
