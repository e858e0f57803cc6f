/**
 * How long an attempt may stay open: an hour from its creation, unless ATTEMPT_TTL_SECONDS is set.
 * After that the sweeper ends the attempt and refunds its fee. The end of a round may end an
 * attempt earlier; the tournament service has that rule.
 */

import { isBefore, later } from '@laurel/values/instant';

export const DEFAULT_ATTEMPT_TTL_SECONDS = 3600;

/** The first instant at which an outcome comes too late. */
export function deadlineOf(createdAt: Date, ttlMs: number): Date {
  return later(createdAt, ttlMs);
}

/**
 * The deadline does not depend on the sweep: at exactly `created_at` + 1 h the attempt is over,
 * whether or not its row is marked yet.
 */
export function isDue(createdAt: Date, ttlMs: number, now: Date): boolean {
  return !isBefore(now, deadlineOf(createdAt, ttlMs));
}
