/**
 * The attempts that this process opened and has not seen end, so that an outcome can be decided without reading its attempt first. A
 * memory, never the truth: another process may have settled, ended or spoiled the attempt since. Whoever decides on it lets the commit
 * hold only where the attempt is still what is remembered, and goes to the row otherwise.
 *
 * Only attempts whose fee the wallet has posted are remembered. A free one is not: its score counts for the bar, which takes more than
 * settling it. The terms of a challenge are frozen, so they are kept once for all its attempts.
 */
import { LRUCache } from 'lru-cache';
import type { Attempt, AttemptTerms, Challenge } from './challenge.ts';
import type { AttemptInPlay } from './outcome-decision.ts';

export interface AttemptMemory {
  /** Null where the attempt or the terms of its challenge are not remembered. */
  recall(attemptId: string): { readonly attempt: AttemptInPlay; readonly terms: AttemptTerms } | null;
  /** The attempt as its creation is answered. Only one that is open, paid for and unspoiled is kept. */
  remember(attempt: Attempt): void;
  rememberTerms(challenge: Challenge): void;
  forget(attemptId: string): void;
}

// About 600 bytes each: some 30 MB. What one process has open by far, and who is pushed out is read from its row.
const MAX_ATTEMPTS = 50_000;
const MAX_CHALLENGES = 10_000;

export function createAttemptMemory(): AttemptMemory {
  const attempts = new LRUCache<string, AttemptInPlay>({ max: MAX_ATTEMPTS });
  const termsOf = new LRUCache<string, AttemptTerms>({ max: MAX_CHALLENGES });

  return {
    recall(attemptId) {
      const attempt = attempts.get(attemptId);
      if (attempt === undefined) return null;
      const terms = termsOf.get(attempt.challengeId);
      return terms === undefined ? null : { attempt, terms };
    },
    remember({ metadata: _, ...attempt }) {
      if (attempt.status !== 'open' || attempt.feeCents === 0n || attempt.spoiledAt !== null) return;
      attempts.set(attempt.id, attempt);
    },
    rememberTerms({ id, tenant, terms: { direction, prizeStructure, scoreMin, scoreMax } }) {
      if (termsOf.has(id)) return;
      termsOf.set(id, { tenant, direction, prizeStructure, scoreMin, scoreMax });
    },
    forget(attemptId) {
      attempts.delete(attemptId);
    },
  };
}
