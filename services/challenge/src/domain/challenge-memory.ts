/**
 * Challenges as they were read last, so that a creation need not read them again. A memory, never the truth: what is decided on it is
 * written only if the row is still the version that was read (repository/foreseen-attempts.ts).
 *
 * Remembered is what a creation reads off the challenge's row alone and goes on reading there from one score to the next: a live
 * challenge with a calibrated bar. The bar of a top_n challenge and the progress of a calibration come from the scores, and move
 * without a new version of the row.
 */
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
  // A Map keeps insertion order, so its first key is the one that was read longest ago.
  const challenges = new Map<string, ReadChallenge>();

  return {
    recall: (challengeId) => challenges.get(challengeId) ?? null,
    remember(read) {
      const { id } = read.challenge;
      challenges.delete(id);
      if (!isToldByItsRow(read.challenge)) return;
      challenges.set(id, read);
      if (challenges.size <= MAX_REMEMBERED) return;
      const [oldest] = challenges.keys();
      if (oldest !== undefined) challenges.delete(oldest);
    },
  };
}

function isToldByItsRow(challenge: Challenge): boolean {
  return challenge.terms.prizeStructure === 'threshold' && statusOf(challenge) === 'live';
}
