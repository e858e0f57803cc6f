/**
 * Caches the attempts that this process opened and has not seen end, so that an outcome can be
 * decided without a read of its attempt. Another process may have settled, ended or disqualified
 * the attempt since. So an outcome that is decided on the cache is recorded only if the attempt's
 * row still equals the cache (outcomes.ts). Otherwise it is decided again under the lock on the
 * row.
 *
 * Only attempts whose fee the wallet has posted are cached. A free attempt is not cached, because
 * its score may count for the bar, which takes more than settling the attempt. The terms of a
 * challenge never change, so one copy serves all attempts of the challenge.
 */
import { LRUCache } from 'lru-cache';
import type { Attempt, AttemptTerms, Challenge } from '../domain/challenge.ts';
import type { AttemptInPlay } from '../domain/outcome-decision.ts';

export interface AttemptCache {
  /** Null if the attempt or the terms of its challenge are not cached. */
  get(attemptId: string): { readonly attempt: AttemptInPlay; readonly terms: AttemptTerms } | null;
  /**
   * Caches the attempt that a creation returns, if the attempt is open, paid for and not
   * disqualified.
   */
  put(attempt: Attempt): void;
  putTerms(challenge: Challenge): void;
  evict(attemptId: string): void;
}

// An attempt takes about 600 bytes: some 30 MB in total. One process has far fewer open attempts;
// an evicted attempt is read from its row.
const MAX_ATTEMPTS = 50_000;
const MAX_CHALLENGES = 10_000;

export function createAttemptCache(): AttemptCache {
  const attempts = new LRUCache<string, AttemptInPlay>({ max: MAX_ATTEMPTS });
  const termsOf = new LRUCache<string, AttemptTerms>({ max: MAX_CHALLENGES });

  return {
    get(attemptId) {
      const attempt = attempts.get(attemptId);
      if (attempt === undefined) return null;
      const terms = termsOf.get(attempt.challengeId);
      return terms === undefined ? null : { attempt, terms };
    },
    put({ metadata: _, ...attempt }) {
      if (attempt.status !== 'open' || attempt.feeCents === 0n || attempt.disqualifiedAt !== null) return;
      attempts.set(attempt.id, attempt);
    },
    putTerms({ id, tenant, terms: { direction, prizeStructure, scoreMin, scoreMax } }) {
      if (termsOf.has(id)) return;
      termsOf.set(id, { tenant, direction, prizeStructure, scoreMin, scoreMax });
    },
    evict(attemptId) {
      attempts.delete(attemptId);
    },
  };
}
