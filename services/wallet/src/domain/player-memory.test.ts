import { describe, expect, it } from 'vitest';
import { STANDING } from './example.ts';
import { createPlayerMemory } from './player-memory.ts';

const ref = (playerRef: string) => ({ programId: 'program', environment: 'live', playerRef }) as const;
const player = (accountId: string) => ({ accountId, standing: STANDING });

describe('what is remembered of players', () => {
  it('is what was learnt last, until it is forgotten', () => {
    const memory = createPlayerMemory();
    expect(memory.recall(ref('a'))).toBeNull();
    memory.remember(ref('a'), player('first'));
    memory.remember(ref('a'), player('second'));
    expect(memory.recall(ref('a'))).toEqual(player('second'));
    memory.forget(ref('a'));
    expect(memory.recall(ref('a'))).toBeNull();
  });

  it('is kept apart by program and environment', () => {
    const memory = createPlayerMemory();
    memory.remember(ref('a'), player('one'));
    expect(memory.recall({ ...ref('a'), environment: 'test' })).toBeNull();
    expect(memory.recall({ ...ref('a'), programId: 'other' })).toBeNull();
  });
});
