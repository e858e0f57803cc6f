import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { row, rowPair, rules } from './board-row.arbitrary.ts';
import { NOW, ROUND_TERMS, WITH_TIEBREAK } from './example.ts';
import { type BoardRow, type BoardRules, compareRows, compareRuns, isBetterRun } from './ranking.ts';
import type { Direction } from './tournament.ts';

const ROW: BoardRow = { score: 10, tiebreak: null, at: NOW, entryId: 'b' };

function namesInOrder(rows: readonly BoardRow[], by: BoardRules): string {
  return rows
    .toSorted((one, other) => compareRows(one, other, by))
    .map(({ entryId }) => entryId)
    .join('');
}

function opposite(direction: Direction): Direction {
  return direction === 'higher_is_better' ? 'lower_is_better' : 'higher_is_better';
}

describe('the board', () => {
  it('the board is ordered by score, then tiebreak, then time, then entry id', () => {
    const rows: BoardRow[] = [
      { ...ROW, entryId: 'g', tiebreak: null },
      { ...ROW, entryId: 'f', tiebreak: 7, at: new Date(NOW.getTime() + 1) },
      { ...ROW, entryId: 'e', tiebreak: 7 },
      { ...ROW, entryId: 'd', tiebreak: 7 },
      { ...ROW, entryId: 'c', tiebreak: 6.5 },
      { ...ROW, entryId: 'a', score: 11, tiebreak: 100 },
      { ...ROW, entryId: 'z', score: -11, tiebreak: 1 },
    ];
    expect(namesInOrder(rows, WITH_TIEBREAK)).toBe('acdefgz');
    expect(namesInOrder(rows, { ...WITH_TIEBREAK, direction: 'lower_is_better' })).toBe('zcdefga');
  });

  it('the board ignores a tiebreak that the tournament does not declare', () => {
    expect(compareRuns({ ...ROW, tiebreak: 1 }, { ...ROW, tiebreak: 2 }, ROUND_TERMS)).toBe(0);
  });

  it('the board distinguishes numbers whose difference is infinite or rounds to zero', () => {
    const compare = (one: number, other: number) =>
      compareRuns({ ...ROW, score: one }, { ...ROW, score: other }, ROUND_TERMS);
    expect(compare(Number.MAX_VALUE, -Number.MAX_VALUE)).toBeLessThan(0);
    expect(compare(0, -Number.MIN_VALUE)).toBeLessThan(0);
    expect(compare(0, -0)).toBe(0);
  });
});

describe('the best run', () => {
  it('the first run of an entry is its best run until a better one arrives', () => {
    expect(isBetterRun(ROW, null, ROUND_TERMS)).toBe(true);
    expect(isBetterRun({ ...ROW, score: 10.5 }, ROW, ROUND_TERMS)).toBe(true);
    expect(isBetterRun({ ...ROW, score: 9.5 }, ROW, ROUND_TERMS)).toBe(false);
  });

  it('an equal later run does not replace the best run', () => {
    expect(isBetterRun({ ...ROW, at: new Date(NOW.getTime() + 1) }, ROW, ROUND_TERMS)).toBe(false);
    expect(isBetterRun({ ...ROW }, ROW, ROUND_TERMS)).toBe(false);
  });

  it('the best run of several is the same in any order of arrival', () => {
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 8 }), fc.nat(), rules, (runs, seed, by) => {
        const turned = [...runs.slice(seed % runs.length), ...runs.slice(0, seed % runs.length)];
        const bestOf = (all: readonly BoardRow[]) =>
          all.reduce((best, run) => (isBetterRun(run, best, by) ? run : best));
        expect(compareRuns(bestOf(runs), bestOf(turned), by)).toBe(0);
        for (const run of runs) expect(compareRuns(bestOf(runs), run, by)).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe('the order of a board', () => {
  it('one of any two entries always ranks before the other', () => {
    fc.assert(
      fc.property(rowPair, rules, ([one, other], by) => {
        const there = Math.sign(compareRows(one, other, by));
        expect(there + Math.sign(compareRows(other, one, by))).toBe(0);
        expect(compareRows(one, one, by)).toBe(0);
        if (one.entryId !== other.entryId) expect(there).not.toBe(0);
      }),
      { numRuns: 1_000 },
    );
  });

  it('the order of a board is transitive', () => {
    fc.assert(
      fc.property(rowPair, row, rules, ([one, other], third, by) => {
        const [first, second, last] = [one, other, third].toSorted((a, b) => compareRows(a, b, by));
        if (first === undefined || second === undefined || last === undefined) throw new Error('three rows were given');
        expect(compareRows(first, second, by)).toBeLessThanOrEqual(0);
        expect(compareRows(second, last, by)).toBeLessThanOrEqual(0);
        expect(compareRows(first, last, by)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 1_000 },
    );
  });

  it('if the direction of the score is reversed, two rows with different scores change places', () => {
    fc.assert(
      fc.property(rowPair, rules, ([one, other], by) => {
        const mirrored = { ...by, direction: opposite(by.direction) };
        const negative = (of: BoardRow) => ({ ...of, score: -of.score });
        expect(compareRows(negative(one), negative(other), mirrored)).toBe(compareRows(one, other, by));
        if (one.score !== other.score) {
          expect(compareRows(one, other, mirrored)).toBe(-compareRows(one, other, by));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('the order of a board puts a row without a tiebreak after every tiebreak, in both directions', () => {
    fc.assert(
      fc.property(row, row, rules, (one, other, by) => {
        fc.pre(by.tiebreak !== null && other.tiebreak !== null);
        expect(compareRuns({ ...one, tiebreak: null }, { ...other, score: one.score }, by)).toBeGreaterThan(0);
      }),
    );
  });
});
