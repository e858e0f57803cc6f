import { describe, expect, it } from 'vitest';
import { CALIBRATING_CHALLENGE, LIVE_CHALLENGE, TOP_N_CHALLENGE } from '../domain/example.ts';
import { createChallengeCache } from './challenge-cache.ts';

describe('the challenge cache', () => {
  it('the challenge cache returns a challenge as the service last read it', () => {
    const cache = createChallengeCache();
    expect(cache.get(LIVE_CHALLENGE.id)).toBeNull();
    cache.put({ challenge: LIVE_CHALLENGE, version: 1n });
    cache.put({ challenge: { ...LIVE_CHALLENGE, threshold: 50 }, version: 2n });
    expect(cache.get(LIVE_CHALLENGE.id)).toEqual({ challenge: { ...LIVE_CHALLENGE, threshold: 50 }, version: 2n });
  });

  it.each([
    ['a suspended one', { ...LIVE_CHALLENGE, status: 'suspended' as const }],
    ['a closed one', { ...LIVE_CHALLENGE, status: 'closed' as const }],
    ['one that calibrates', CALIBRATING_CHALLENGE],
    ['a top_n one', TOP_N_CHALLENGE],
    ['a top_n one with a bar', { ...TOP_N_CHALLENGE, nthBestScore: 100 }],
  ])('the challenge cache evicts a challenge that has become %s', (_, challenge) => {
    const cache = createChallengeCache();
    cache.put({ challenge: LIVE_CHALLENGE, version: 1n });
    cache.put({ challenge, version: 2n });
    expect(cache.get(LIVE_CHALLENGE.id)).toBeNull();
  });

  it('the challenge cache evicts the least recently used challenge when it is full', () => {
    const cache = createChallengeCache();
    const put = (id: string) => cache.put({ challenge: { ...LIVE_CHALLENGE, id }, version: 1n });
    put('first');
    put('second');
    put('first');
    for (let index = 0; index < 4_999; index += 1) put(`${index}`);
    expect(cache.get('second')).toBeNull();
    expect(cache.get('first')?.challenge.id).toBe('first');
  });
});
