import fc from 'fast-check';
import { expect, test } from 'vitest';
import { choice, filters, parseSearch, stringifySearch, text } from './filters.ts';

const read = filters({ status: choice('open', 'settled'), player_ref: text(20) });

test('an address gives the filters that it names', () => {
  expect(read(parseSearch('?status=open&player_ref=12'))).toEqual({ status: 'open', player_ref: '12' });
});

test('what does not fit is left out', () => {
  expect(read(parseSearch(`?status=closed&player_ref=${'x'.repeat(21)}&unknown=1`))).toEqual({});
});

test('a filter that goes into the address comes back from the address', () => {
  const anyText = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 20 })
    .filter((value) => value === value.trim() && value.isWellFormed());
  fc.assert(
    fc.property(fc.record({ status: fc.constantFrom('open', 'settled'), player_ref: anyText }), (search) => {
      expect(read(parseSearch(stringifySearch(search)))).toEqual(search);
    }),
  );
});

test('filters that are not set leave no trace in the address', () => {
  expect(stringifySearch({ status: undefined, player_ref: '' })).toBe('');
});
