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

/** Requests that a minute has, unless the host sets others. */
export const DEFAULT_REQUESTS_PER_MINUTE = {
  /** Of a program and environment: the number that the contract names. */
  v1: 300,
  /** Of a program: its calls cost more than those of `/v1`, and come in bursts when a test sets up. */
  sandbox: 600,
  /** Of a developer; and of signing in, of a client. */
  portal: 300,
  /** Of an operator. */
  operator: 6_000,
  /** Under `/api`, of a client whose credential is not valid, in each process. */
  failures: 300,
} as const;

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
