import { describe, expect, it } from 'vitest';
import { CALIBRATING, LIVE, TOP_N } from '../domain/example.ts';
import { createChallengeCache } from './challenge-cache.ts';

describe('the challenge cache', () => {
  it('the challenge cache returns a challenge as last read', () => {
    const cache = createChallengeCache();
    expect(cache.get(LIVE.id)).toBeNull();
    cache.put({ challenge: LIVE, version: 1n });
    cache.put({ challenge: { ...LIVE, threshold: 50 }, version: 2n });
    expect(cache.get(LIVE.id)).toEqual({ challenge: { ...LIVE, threshold: 50 }, version: 2n });
  });

  it.each([
    ['a suspended one', { ...LIVE, status: 'suspended' as const }],
    ['a closed one', { ...LIVE, status: 'closed' as const }],
    ['one that calibrates', CALIBRATING],
    ['a top_n one', TOP_N],
    ['a top_n one with a bar', { ...TOP_N, nthBestScore: 100 }],
  ])('the challenge cache evicts a challenge that has become %s', (_, challenge) => {
    const cache = createChallengeCache();
    cache.put({ challenge: LIVE, version: 1n });
    cache.put({ challenge, version: 2n });
    expect(cache.get(LIVE.id)).toBeNull();
  });

  it('the challenge cache evicts the least recently used challenge when it is full', () => {
    const cache = createChallengeCache();
    const put = (id: string) => cache.put({ challenge: { ...LIVE, id }, version: 1n });
    put('first');
    put('second');
    put('first');
    for (let index = 0; index < 4_999; index += 1) put(`${index}`);
    expect(cache.get('second')).toBeNull();
    expect(cache.get('first')?.challenge.id).toBe('first');
  });
});
