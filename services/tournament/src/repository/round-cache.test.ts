import { describe, expect, it } from 'vitest';
import { after, ROUND } from '../domain/example.ts';
import { createRoundCache } from './round-cache.ts';

describe('the round cache', () => {
  it('the round cache returns a round as the service last read it', () => {
    const cache = createRoundCache();
    expect(cache.get(ROUND.id)).toBeNull();
    cache.put(ROUND);
    const sooner = { ...ROUND, entriesCloseAt: after(-1, ROUND.entriesCloseAt) };
    cache.put(sooner);
    expect(cache.get(ROUND.id)).toEqual(sooner);
  });

  it.each(['settling', 'settled', 'cancelling', 'cancelled'] as const)(
    'the round cache evicts a round that is %s',
    (status) => {
      const cache = createRoundCache();
      cache.put(ROUND);
      cache.put({ ...ROUND, status });
      expect(cache.get(ROUND.id)).toBeNull();
    },
  );
});
