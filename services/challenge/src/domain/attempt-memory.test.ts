import { cents } from '@laurel/money';
import { describe, expect, it } from 'vitest';
import { createAttemptMemory } from './attempt-memory.ts';
import { ATTEMPT, ATTEMPT_TERMS, LIVE, NOW } from './example.ts';

describe('the memory of attempts', () => {
  it('keeps one that is open, paid for and unspoiled, with the terms of its challenge, until it is forgotten', () => {
    const memory = createAttemptMemory();
    memory.remember(ATTEMPT);
    expect(memory.recall(ATTEMPT.id)).toBeNull();
    memory.rememberTerms(LIVE);
    const { metadata: _, ...attempt } = ATTEMPT;
    expect(memory.recall(ATTEMPT.id)).toEqual({ attempt, terms: { ...ATTEMPT_TERMS, tenant: LIVE.tenant } });
    memory.forget(ATTEMPT.id);
    expect(memory.recall(ATTEMPT.id)).toBeNull();
  });

  it('keeps no other', () => {
    const memory = createAttemptMemory();
    memory.rememberTerms(LIVE);
    for (const other of [
      { status: 'settled' },
      { status: 'pending' },
      { feeCents: cents(0n) },
      { spoiledAt: NOW },
    ] as const) {
      memory.remember({ ...ATTEMPT, ...other });
      expect(memory.recall(ATTEMPT.id)).toBeNull();
    }
  });

  it('holds the newest 50,000', () => {
    const memory = createAttemptMemory();
    memory.rememberTerms(LIVE);
    for (let index = 0; index <= 50_000; index += 1) memory.remember({ ...ATTEMPT, id: `attempt ${index}` });
    expect(memory.recall('attempt 0')).toBeNull();
    expect(memory.recall('attempt 1')).not.toBeNull();
    expect(memory.recall('attempt 50000')).not.toBeNull();
  });
});
