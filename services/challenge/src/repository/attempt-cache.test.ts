import { cents } from '@laurel/values/money';
import { describe, expect, it } from 'vitest';
import { ATTEMPT, ATTEMPT_TERMS, LIVE_CHALLENGE, NOW } from '../domain/example.ts';
import { createAttemptCache } from './attempt-cache.ts';

describe('the attempt cache', () => {
  it('the attempt cache returns an open paid attempt until it is evicted', () => {
    const cache = createAttemptCache();
    cache.put(ATTEMPT);
    expect(cache.get(ATTEMPT.id)).toBeNull();
    cache.putTerms(LIVE_CHALLENGE);
    const { metadata: _, ...attempt } = ATTEMPT;
    expect(cache.get(ATTEMPT.id)).toEqual({ attempt, terms: { ...ATTEMPT_TERMS, tenant: LIVE_CHALLENGE.tenant } });
    cache.evict(ATTEMPT.id);
    expect(cache.get(ATTEMPT.id)).toBeNull();
  });

  it('the attempt cache keeps only open paid attempts', () => {
    const cache = createAttemptCache();
    cache.putTerms(LIVE_CHALLENGE);
    for (const other of [
      { status: 'settled' },
      { status: 'pending' },
      { feeCents: cents(0n) },
      { disqualifiedAt: NOW },
    ] as const) {
      cache.put({ ...ATTEMPT, ...other });
      expect(cache.get(ATTEMPT.id)).toBeNull();
    }
  });

  it('the attempt cache keeps the newest 50,000 attempts', () => {
    const cache = createAttemptCache();
    cache.putTerms(LIVE_CHALLENGE);
    for (let index = 0; index <= 50_000; index += 1) cache.put({ ...ATTEMPT, id: `attempt ${index}` });
    expect(cache.get('attempt 0')).toBeNull();
    expect(cache.get('attempt 1')).not.toBeNull();
    expect(cache.get('attempt 50000')).not.toBeNull();
  });
});
