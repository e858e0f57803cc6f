/**
 * Slows down repeated failures. A number of failures within the window is free. From then on each
 * failure delays the next try twice as long as the one before, up to a longest delay. A failure
 * stops counting once the window has passed. So no caller is locked out: it may try again after the
 * wait that the response names, which is at most the longest delay.
 */
import { lastOf, later } from '@laurel/values/instant';

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

/** How long the next try has to wait after the newest of this many failures. */
export function delayMs(count: number, free: number, backoff: Backoff): number {
  return count < free ? 0 : Math.min(backoff.maxDelayMs, backoff.firstDelayMs * 2 ** (count - free));
}

/** When the next try may be made. */
export function nextTryAt({ count, newest }: Failures, free: number, backoff: Backoff, now: Date): Date {
  const delay = delayMs(count, free, backoff);
  // Without a delay there is no wait, even if a failure seems to lie in the future because the
  // clock of the replica that counted it is fast.
  if (newest === null || delay === 0) return now;
  return lastOf(now, later(newest, delay));
}

/** From this many failures on, each delay is the longest one. */
export function countsThatMatter(free: number, { firstDelayMs, maxDelayMs }: Backoff): number {
  return free + Math.max(0, Math.ceil(Math.log2(maxDelayMs / firstDelayMs)));
}
