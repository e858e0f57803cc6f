/**
 * Challenges as they were read last, so that a creation need not read them again. A memory, never the truth: what is decided on it is
 * written only if the row is still the version that was read (repository/foreseen-attempts.ts).
 *
 * Remembered is what a creation reads off the challenge's row alone and goes on reading there from one score to the next: a live
 * challenge with a calibrated bar. The bar of a top_n challenge and the progress of a calibration come from the scores, and move
 * without a new version of the row.
 */
import { LRUCache } from 'lru-cache';
import { statusOf } from './bar.ts';
import type { Challenge } from './challenge.ts';

/** A challenge, and which version of its row it was read from. */
export type ReadChallenge = { readonly challenge: Challenge; readonly version: string };

export interface ChallengeMemory {
  recall(challengeId: string): ReadChallenge | null;
  /** Takes the place of what was remembered; a challenge that is not to be remembered is forgotten. */
  remember(read: ReadChallenge): void;
}

// About 2 kB each: some 10 MB.
const MAX_REMEMBERED = 5_000;

export function createChallengeMemory(): ChallengeMemory {
  const challenges = new LRUCache<string, ReadChallenge>({ max: MAX_REMEMBERED });

  return {
    recall: (challengeId) => challenges.get(challengeId) ?? null,
    remember(read) {
      const { challenge } = read;
      if (isToldByItsRow(challenge)) challenges.set(challenge.id, read);
      else challenges.delete(challenge.id);
    },
  };
}

function isToldByItsRow(challenge: Challenge): boolean {
  return challenge.terms.prizeStructure === 'threshold' && statusOf(challenge) === 'live';
}
