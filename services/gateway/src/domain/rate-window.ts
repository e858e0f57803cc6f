/**
 * 300 requests a minute (docs/contract/partner-api.md, "Rate limit"), counted exactly over fixed minutes, per program and environment: a key
 * that was regenerated continues the count of the old one.
 * - A window is a minute of the database's clock, the one clock that all replicas share; a request counts in the newest window that any
 *   request has opened, so a statement that began in the old minute and waited can never open it again.
 * - The first `limit` requests of a window are accepted, the rest are refused until it ends. A refused request counts too: it changes nothing.
 */

export interface RateWindow {
  /** Milliseconds. */
  readonly startedAt: number;
  readonly requests: number;
}

export const WINDOW_MS = 60_000;

/** The window after `wanted` more requests at `now`. */
export function countRequests(
  window: RateWindow | undefined,
  now: number,
  wanted: number,
  windowMs = WINDOW_MS,
): RateWindow {
  const startedAt = now - (now % windowMs);
  if (window === undefined || window.startedAt < startedAt) return { startedAt, requests: wanted };
  return { startedAt: window.startedAt, requests: window.requests + wanted };
}

/** How many requests of the window are left for the next one, when this was its `position`-th; below 0 this one is refused. */
export function remainingAt(position: number, limit: number): number {
  return limit - position;
}

/** Whole seconds until the window ends, at least 1: a caller that waits that long meets the next window. */
export function retryAfterSeconds(endsAt: number, now: number): number {
  return Math.max(1, Math.ceil((endsAt - now) / 1_000));
}
