import { describe, expect, it } from 'vitest';
import { ELIGIBLE } from '../domain/example.ts';
import { createPlayerCache } from './player-cache.ts';

const ref = (playerRef: string) => ({ programId: 'program', environment: 'live', playerRef }) as const;
const player = (accountId: string) => ({ accountId, eligibility: ELIGIBLE });

describe('the player cache', () => {
  it('the player cache returns a player with the facts of the last payment, until evicted', () => {
    const cache = createPlayerCache();
    expect(cache.get(ref('a'))).toBeNull();
    cache.put(ref('a'), player('first'));
    cache.put(ref('a'), player('second'));
    expect(cache.get(ref('a'))).toEqual(player('second'));
    cache.evict(ref('a'));
    expect(cache.get(ref('a'))).toBeNull();
  });

  it('the player cache keeps players apart by program and environment', () => {
    const cache = createPlayerCache();
    cache.put(ref('a'), player('one'));
    expect(cache.get({ ...ref('a'), environment: 'test' })).toBeNull();
    expect(cache.get({ ...ref('a'), programId: 'other' })).toBeNull();
  });
});
