/**
 * Caches challenges as last read, so that a creation need not read its challenge. A creation that
 * is decided on the cache is written only if the challenge's row still has the version that was
 * read (optimistic-attempts.ts).
 *
 * Only a live challenge with a calibrated bar is cached. The row of such a challenge contains all
 * that a creation reads, including whether the ramp is completed, and does not change with each
 * score. The number of attempts that the ramp has seen is not in the row and may be out of date;
 * only lists show it. A top_n challenge and a calibrating challenge are not cached, because scores
 * change their bar or progress without a new version of the row.
 */
import { LRUCache } from 'lru-cache';
import type { Challenge } from '../domain/challenge.ts';
import { statusOf } from '../domain/current-bar.ts';
import type { VersionedChallenge } from './challenges.ts';

export interface ChallengeCache {
  get(challengeId: string): VersionedChallenge | null;
  /** Replaces what was cached. A challenge that may not be cached is evicted. */
  put(read: VersionedChallenge): void;
}

// A challenge takes about 2 kB: some 10 MB in total.
const MAX_CACHED = 5_000;

export function createChallengeCache(): ChallengeCache {
  const challenges = new LRUCache<string, VersionedChallenge>({ max: MAX_CACHED });

  return {
    get: (challengeId) => challenges.get(challengeId) ?? null,
    put(read) {
      const { challenge } = read;
      if (followsFromItsRow(challenge)) challenges.set(challenge.id, read);
      else challenges.delete(challenge.id);
    },
  };
}

function followsFromItsRow(challenge: Challenge): boolean {
  return challenge.terms.prizeStructure === 'threshold' && statusOf(challenge) === 'live';
}
