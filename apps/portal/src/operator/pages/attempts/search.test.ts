import { expect, test } from 'vitest';
import { queryOf } from './search.ts';

test('a list of attempts is selected by a program with its environment, by an account, or by both', () => {
  const ofProgram = { program_id: 'p-1', environment: 'live', status: 'open' } as const;
  for (const search of [ofProgram, { account_id: 'a-1' }, { ...ofProgram, account_id: 'a-1' }])
    expect(queryOf(search)).toEqual({ kind: 'complete', query: search });
});

test('an environment without a program is ignored when the attempts of an account are read', () => {
  expect(queryOf({ account_id: 'a-1', environment: 'test' })).toEqual({
    kind: 'complete',
    query: { account_id: 'a-1', environment: undefined },
  });
});

test('no attempts are read without an account and without a program with its environment', () => {
  expect(queryOf({})).toEqual({ kind: 'needs', what: 'program' });
  expect(queryOf({ player_ref: 'p-1', environment: 'live' })).toEqual({ kind: 'needs', what: 'program' });
  for (const search of [{ program_id: 'p-1' }, { program_id: 'p-1', account_id: 'a-1' }])
    expect(queryOf(search)).toEqual({ kind: 'needs', what: 'environment' });
});
