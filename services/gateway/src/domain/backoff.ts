/**
 * Slows down repeated failures. So many failures within the window are free; from then on each one delays the next try, twice as long as the
 * one before, up to a longest wait. A failure stops counting when the window has passed. So no caller is locked out: one that waits as long as
 * the answer requires may try again, and that is never longer than the longest wait.
 */
import { lastOf, later } from '@laurel/instant';

export interface Backoff {
  readonly windowMs: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

/** The failures within the window. */
export interface Failures {
  readonly count: number;
  readonly newest: Date | null;
}

/** How long after the newest of so many failures the next try has to wait. */
export function delayMs(count: number, free: number, backoff: Backoff): number {
  return count < free ? 0 : Math.min(backoff.maxDelayMs, backoff.firstDelayMs * 2 ** (count - free));
}

/** When the next try may be made. */
export function freeAt({ count, newest }: Failures, free: number, backoff: Backoff, now: Date): Date {
  const delay = delayMs(count, free, backoff);
  // Without a delay there is no wait, even where a failure seems to lie ahead because the clock of its replica is fast.
  if (newest === null || delay === 0) return now;
  return lastOf(now, later(newest, delay));
}

/** From this many failures on, each delay is the longest one. */
export function countsThatMatter(free: number, { firstDelayMs, maxDelayMs }: Backoff): number {
  return free + Math.max(0, Math.ceil(Math.log2(maxDelayMs / firstDelayMs)));
}
