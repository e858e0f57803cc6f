import { expect, test } from 'vitest';
import { queryOf } from './search.ts';

test('attempts are listed by program and environment, by account, or by both', () => {
  const ofProgram = { program_id: 'p-1', environment: 'live', status: 'open' } as const;
  for (const search of [ofProgram, { account_id: 'a-1' }, { ...ofProgram, account_id: 'a-1' }])
    expect(queryOf(search)).toEqual({ kind: 'complete', query: search });
});

test('an environment without a program is ignored when attempts are listed by account', () => {
  expect(queryOf({ account_id: 'a-1', environment: 'test' })).toEqual({
    kind: 'complete',
    query: { account_id: 'a-1', environment: undefined },
  });
});

test('a list of attempts needs an account, or a program and an environment', () => {
  expect(queryOf({})).toEqual({ kind: 'needs', what: 'program' });
  expect(queryOf({ player_ref: 'p-1', environment: 'live' })).toEqual({ kind: 'needs', what: 'program' });
  for (const search of [{ program_id: 'p-1' }, { program_id: 'p-1', account_id: 'a-1' }])
    expect(queryOf(search)).toEqual({ kind: 'needs', what: 'environment' });
});
