import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupRanks } from './purse.ts';

test('successive ranks with the same payout are one group', () => {
  const purse = [
    { rank: 3, amount: '2.00' },
    { rank: 1, amount: '5.00' },
    { rank: 2, amount: '2.00' },
    { rank: 5, amount: '2.00' },
  ];
  expect(groupRanks(purse)).toEqual([
    { first: 1, last: 1, amount: '5.00' },
    { first: 2, last: 3, amount: '2.00' },
    { first: 5, last: 5, amount: '2.00' },
  ]);
});

test('the groups have every rank of the purse with its payout, and no other', () => {
  const purse = fc.uniqueArray(
    fc.record({ rank: fc.integer({ min: 1, max: 60 }), amount: fc.constantFrom('1.00', '2.00', '5.00') }),
    { selector: ({ rank }) => rank },
  );
  fc.assert(
    fc.property(purse, (rows) => {
      const ranks = groupRanks(rows).flatMap(({ first, last, amount }) =>
        Array.from({ length: last - first + 1 }, (_, index) => ({ rank: first + index, amount })),
      );
      expect(ranks).toEqual([...rows].sort((one, other) => one.rank - other.rank));
    }),
  );
});
