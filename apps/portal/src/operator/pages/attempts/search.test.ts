import { expect, test } from 'vitest';
import { queryOf } from './search.ts';

test('a list is of a program in an environment, or of an account, or of both', () => {
  const ofProgram = { program_id: 'p-1', environment: 'live', status: 'open' } as const;
  for (const search of [ofProgram, { account_id: 'a-1' }, { ...ofProgram, account_id: 'a-1' }])
    expect(queryOf(search)).toEqual({ kind: 'complete', query: search });
});

test('an environment says nothing without its program, so the list of an account is read without it', () => {
  expect(queryOf({ account_id: 'a-1', environment: 'test' })).toEqual({
    kind: 'complete',
    query: { account_id: 'a-1', environment: undefined },
  });
});

test('without a program or an account, and without the environment of a program, nothing is read', () => {
  expect(queryOf({})).toEqual({ kind: 'needs', what: 'program' });
  expect(queryOf({ player_ref: 'p-1', environment: 'live' })).toEqual({ kind: 'needs', what: 'program' });
  for (const search of [{ program_id: 'p-1' }, { program_id: 'p-1', account_id: 'a-1' }])
    expect(queryOf(search)).toEqual({ kind: 'needs', what: 'environment' });
});
