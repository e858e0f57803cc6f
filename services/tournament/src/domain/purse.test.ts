import { contestServiceOf } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROUND_ID, ROUND_TERMS } from './example.ts';
import { awardIdOfRank, payoutOfRank, payoutsOf, purseAmount, purseWon } from './purse.ts';

const { purse } = ROUND_TERMS;

const anyPurse = fc
  .array(fc.bigInt({ min: 1n, max: 10n ** 13n }), { minLength: 1, maxLength: 50 })
  .map((amounts) => amounts.toSorted((one, other) => (one > other ? -1 : 1)).map(cents));

describe('a purse', () => {
  it('a purse pays the amounts of its table, and 0.00 for every further rank', () => {
    expect(purseAmount(purse)).toBe(20_000n);
    expect([1, 2, 3, 4, 1_000_000].map((rank) => payoutOfRank(purse, rank))).toEqual([10_000n, 5_000n, 5_000n, 0n, 0n]);
    for (const rank of [0, -1, 1.5, Number.NaN]) expect(() => payoutOfRank(purse, rank)).toThrow(RangeError);
  });

  it('a purse pays only the ranks that an entry reached', () => {
    expect(payoutsOf(purse, 0)).toEqual([]);
    expect(payoutsOf(purse, 2)).toEqual([
      { rank: 1, amountCents: 10_000n },
      { rank: 2, amountCents: 5_000n },
    ]);
    expect(payoutsOf(purse, 99)).toHaveLength(3);
  });

  it('the award ids of the ranks of a round are distinct and reproducible', () => {
    const ids = [1, 2, 11].map((rank) => awardIdOfRank(ROUND_ID, rank));
    expect(new Set(ids).size).toBe(3);
    expect(ids.map(contestServiceOf)).toEqual(['tournament', 'tournament', 'tournament']);
    expect(awardIdOfRank(ROUND_ID, 1)).toBe(ids[0]);
  });

  it('the payouts of all ranks add up exactly to the amount of the purse', () => {
    fc.assert(
      fc.property(anyPurse, fc.nat(60), (table, players) => {
        const paid = purseWon(table, players);
        expect(paid).toBe(payoutsOf(table, players).reduce((sum, { amountCents }) => sum + amountCents, 0n));
        if (players >= table.length) expect(paid).toBe(purseAmount(table));
        else expect(paid).toBeLessThan(purseAmount(table));
      }),
    );
  });

  it('the payout of a rank is never above the payout of the rank before', () => {
    fc.assert(
      fc.property(anyPurse, fc.integer({ min: 1, max: 60 }), (table, rank) => {
        expect(payoutOfRank(table, rank + 1)).toBeLessThanOrEqual(payoutOfRank(table, rank));
      }),
    );
  });

  it('a purse pays a rank the same amount for any number of entries', () => {
    fc.assert(
      fc.property(anyPurse, fc.nat(60), (table, players) => {
        for (const { rank, amountCents } of payoutsOf(table, players)) {
          expect(amountCents).toBe(payoutOfRank(table, rank));
        }
      }),
    );
  });
});
