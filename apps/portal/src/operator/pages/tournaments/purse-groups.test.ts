import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupRanks } from '../../../contests/purse.ts';
import { MAX_RANKS, purseOf, spansOf, type TypedGroup, totalOf } from './purse-groups.ts';

const typed = (...groups: readonly (readonly [ranks: string, amount: string])[]): readonly TypedGroup[] =>
  groups.map(([ranks, amount], key) => ({ key, ranks, amount }));

test('each group begins with the rank after the last rank of the group before it', () => {
  const groups = typed(['1', '50.00'], ['2', ' 10.00 '], ['3', '1.00']);
  expect(spansOf(groups)).toEqual([
    { first: 1, last: 1 },
    { first: 2, last: 3 },
    { first: 4, last: 6 },
  ]);
  expect(purseOf(groups)).toEqual([
    { rank: 1, amount: '50.00' },
    { rank: 2, amount: '10.00' },
    { rank: 3, amount: '10.00' },
    { rank: 4, amount: '1.00' },
    { rank: 5, amount: '1.00' },
    { rank: 6, amount: '1.00' },
  ]);
  expect(totalOf(groups)).toBe('73.00');
});

test('a group of ranks with an invalid number of ranks is not paid', () => {
  for (const ranks of ['', '0', '-1', '1.5', 'two', String(MAX_RANKS + 1)]) {
    expect(purseOf(typed([ranks, '5.00']))).toEqual([]);
    expect(totalOf(typed([ranks, '5.00']))).toBe('0.00');
  }
  expect(totalOf(typed(['1', '0.05']))).toBe('0.05');
  for (const amount of ['', '5', '5.0', '-5.00', 'five']) expect(totalOf(typed(['1', amount]))).toBeNull();
});

test('groups with falling amounts are shown as they were typed', () => {
  const falling = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      falling,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 8, maxLength: 8 }),
      (amounts, counts) => {
        const groups = amounts
          .toSorted((one, other) => other - one)
          .map((amount, key) => ({ key, ranks: String(counts[key]), amount: `${amount}.00` }));
        const shown = groupRanks(purseOf(groups));
        expect(shown).toEqual(spansOf(groups).map((span, index) => ({ ...span, amount: groups[index]?.amount })));
      },
    ),
  );
});
