/**
 * Caches rounds as an entry last read them, so that the next entry need not read them. An entry
 * that is decided on the cache is written only if the round's row still has the cached status and
 * end of entries (optimistic-attempts.ts). No other column that decides an entry ever changes;
 * `rounds_terms_are_frozen` enforces it.
 *
 * Only an open round is cached: no other round takes entries, and a round never opens again.
 */
import { LRUCache } from 'lru-cache';
import type { EntryRound } from '../domain/entry-decision.ts';

export interface RoundCache {
  get(roundId: string): EntryRound | null;
  /** Replaces the cached round; evicts a round that may not be cached. */
  put(read: EntryRound): void;
}

// A cached round takes about 500 bytes: some 3 MB in total.
const MAX_CACHED = 5_000;

export function createRoundCache(): RoundCache {
  const rounds = new LRUCache<string, EntryRound>({ max: MAX_CACHED });

  return {
    get: (roundId) => rounds.get(roundId) ?? null,
    put(read) {
      if (read.status === 'open') rounds.set(read.id, read);
      else rounds.delete(read.id);
    },
  };
}
