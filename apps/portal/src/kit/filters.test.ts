import fc from 'fast-check';
import { expect, test } from 'vitest';
import { choice, filters, id, parseSearch, stringifySearch, text } from './filters.ts';

const read = filters({ status: choice('open', 'settled'), player_ref: text(20) });

test('filters are read from the address', () => {
  expect(read(parseSearch('?status=open&player_ref=12'))).toEqual({ status: 'open', player_ref: '12' });
});

test('a filter with an invalid value is left out', () => {
  expect(read(parseSearch(`?status=closed&player_ref=${'x'.repeat(21)}&unknown=1`))).toEqual({});
});

test('an incomplete id is left out', () => {
  const readId = filters({ challenge_id: id() });
  const whole = '0198F2A1-5031-7190-ad21-6bfd27e1bae3';
  expect(readId(parseSearch(`?challenge_id=${whole}`))).toEqual({ challenge_id: whole });
  for (const part of ['nonsense', whole.slice(1), ` ${whole}`]) expect(readId({ challenge_id: part })).toEqual({});
});

test('filters that are written to the address are read back unchanged', () => {
  const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((value) => value.isWellFormed());
  fc.assert(
    fc.property(fc.record({ status: fc.constantFrom('open', 'settled'), player_ref: anyText }), (search) => {
      expect(read(parseSearch(stringifySearch(search)))).toEqual(search);
    }),
  );
});

test('filters that are not set are absent from the address', () => {
  expect(stringifySearch({ status: undefined, player_ref: '' })).toBe('');
});
