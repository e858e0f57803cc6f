import { describe, expect, it } from 'vitest';
import { createAccountMemory } from './account-memory.ts';

const tenant = { programId: 'program', environment: 'test' } as const;
const player = (playerRef: string) => ({ tenant, playerRef });

describe('the memory of accounts', () => {
  it('knows what it heard last, of each tenant by itself, and nothing of a ref without an account', () => {
    const accounts = createAccountMemory();
    expect(accounts.recall(player('ada'))).toBeNull();
    accounts.remember(player('ada'), 'one');
    accounts.remember(player('ada'), 'two');
    expect(accounts.recall(player('ada'))).toBe('two');
    expect(accounts.recall({ tenant: { ...tenant, environment: 'live' }, playerRef: 'ada' })).toBeNull();
    accounts.remember(player('ada'), null);
    expect(accounts.recall(player('ada'))).toBeNull();
  });

  it('forgets what it learnt longest ago when it is full', () => {
    const accounts = createAccountMemory();
    accounts.remember(player('first'), 'one');
    accounts.remember(player('second'), 'two');
    accounts.remember(player('first'), 'one');
    for (let index = 0; index < 49_999; index += 1) accounts.remember(player(`${index}`), 'other');
    expect(accounts.recall(player('second'))).toBeNull();
    expect(accounts.recall(player('first'))).toBe('one');
  });
});
