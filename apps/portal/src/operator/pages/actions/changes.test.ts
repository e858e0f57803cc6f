import { expect, test } from 'vitest';
import { changesOf } from './changes.ts';

test('the changes of an action are only the members that differ', () => {
  const before = { id: '1', status: 'draft', blocked: false, keys: [1], limits: { fee: '1.00' } };
  const after = { id: '1', status: 'approved', blocked: true, keys: [1, 2], limits: { fee: '2.00' } };
  expect(changesOf(before, after)).toEqual([
    { name: 'status', from: 'draft', to: 'approved' },
    { name: 'blocked', from: 'false', to: 'true' },
    { name: 'keys', from: '[1]', to: '[2]' },
    { name: 'limits', from: '{…}', to: '{…}' },
  ]);
});

test('a member that is added or removed is a change', () => {
  expect(changesOf({ note: null }, { note: 'seen' })).toEqual([{ name: 'note', from: 'none', to: 'seen' }]);
  expect(changesOf({}, { fee_limit: '5.00' })).toEqual([{ name: 'fee_limit', from: 'none', to: '5.00' }]);
});

test('an action shows no changes if the state before or after it is unknown', () => {
  expect(changesOf(null, { id: '1' })).toEqual([]);
  expect(changesOf({ id: '1' }, null)).toEqual([]);
  expect(changesOf([1], [2])).toEqual([]);
});
