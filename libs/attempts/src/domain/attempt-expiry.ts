/**
 * How long an attempt may stay open: an hour from its creation, unless ATTEMPT_TTL_SECONDS is set. Then it is over, its sweeper ends it and
 * its fee is returned. A round may end first; that is the tournament service's rule.
 */

import { isBefore, later } from '@laurel/instant';

export const DEFAULT_ATTEMPT_TTL_SECONDS = 3600;

/** The first instant at which an outcome comes too late. */
export function deadlineOf(createdAt: Date, ttlMs: number): Date {
  return later(createdAt, ttlMs);
}

/** The deadline holds without the sweep: at `created_at` + 1 h exactly the attempt is over, whether or not its row is marked yet. */
export function isDue(createdAt: Date, ttlMs: number, now: Date): boolean {
  return !isBefore(now, deadlineOf(createdAt, ttlMs));
}
