import { describe, expect, it } from 'vitest';
import { createChallengeMemory } from './challenge-memory.ts';
import { CALIBRATING, LIVE, TOP_N } from './example.ts';

describe('the memory of challenges', () => {
  it('knows what was read last', () => {
    const memory = createChallengeMemory();
    expect(memory.recall(LIVE.id)).toBeNull();
    memory.remember({ challenge: LIVE, version: '1' });
    memory.remember({ challenge: { ...LIVE, threshold: 50 }, version: '2' });
    expect(memory.recall(LIVE.id)).toEqual({ challenge: { ...LIVE, threshold: 50 }, version: '2' });
  });

  it.each([
    ['a suspended one', { ...LIVE, status: 'suspended' as const }],
    ['a closed one', { ...LIVE, status: 'closed' as const }],
    ['one that calibrates', CALIBRATING],
    ['a top_n one', TOP_N],
    ['a top_n one with a bar', { ...TOP_N, nthBestScore: 100 }],
  ])('forgets %s', (_, challenge) => {
    const memory = createChallengeMemory();
    memory.remember({ challenge: LIVE, version: '1' });
    memory.remember({ challenge, version: '2' });
    expect(memory.recall(LIVE.id)).toBeNull();
  });

  it('forgets what was read longest ago when it is full', () => {
    const memory = createChallengeMemory();
    const remember = (id: string) => memory.remember({ challenge: { ...LIVE, id }, version: '1' });
    remember('first');
    remember('second');
    remember('first');
    for (let index = 0; index < 4_999; index += 1) remember(`${index}`);
    expect(memory.recall('second')).toBeNull();
    expect(memory.recall('first')?.challenge.id).toBe('first');
  });
});
