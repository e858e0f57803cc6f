import { describe, expect, it } from 'vitest';
import { createAccountCache } from './account-cache.ts';

const tenant = { programId: 'program', environment: 'test' } as const;
const player = (playerRef: string) => ({ tenant, playerRef });

describe('the account cache', () => {
  it('the account cache returns the account that a ref named last', () => {
    const accounts = createAccountCache();
    expect(accounts.get(player('ada'))).toBeNull();
    accounts.put(player('ada'), 'one');
    accounts.put(player('ada'), 'two');
    expect(accounts.get(player('ada'))).toBe('two');
    expect(accounts.get({ tenant: { ...tenant, environment: 'live' }, playerRef: 'ada' })).toBeNull();
    accounts.put(player('ada'), null);
    expect(accounts.get(player('ada'))).toBeNull();
  });

  it('the account cache evicts the least recently used account when it is full', () => {
    const accounts = createAccountCache();
    accounts.put(player('first'), 'one');
    accounts.put(player('second'), 'two');
    accounts.put(player('first'), 'one');
    for (let index = 0; index < 49_999; index += 1) accounts.put(player(`${index}`), 'other');
    expect(accounts.get(player('second'))).toBeNull();
    expect(accounts.get(player('first'))).toBe('one');
  });
});
