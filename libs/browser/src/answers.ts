/**
 * Checks the members of the partner server's responses on which a decision of this library depends.
 */
import { ATTEMPT_STATUSES } from './closed-sets.ts';
import type { Attempt, Challenge, Leaderboard } from './player-shapes.ts';

export function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function isChallengeList(answer: object): answer is { readonly data: readonly Challenge[] } {
  return Array.isArray((answer as { data?: unknown }).data);
}

export function isLeaderboard(answer: object): answer is Leaderboard {
  const { locked, data } = answer as { locked?: unknown; data?: unknown };
  return locked === true || Array.isArray(data);
}

/**
 * Whether the response is an attempt with this id, if an id is known. A response with a status
 * outside the closed set is not an attempt.
 */
export function isAttempt(answer: object, wanted?: string): answer is Attempt {
  const { id, status } = answer as Partial<Attempt>;
  const statuses: readonly unknown[] = ATTEMPT_STATUSES;
  return isId(id) && (wanted === undefined || id === wanted) && statuses.includes(status);
}
