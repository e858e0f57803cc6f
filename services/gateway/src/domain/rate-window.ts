/**
 * 300 requests a minute (docs/contract/partner-api.md, "Rate limit"), counted exactly over fixed
 * minutes, per program and environment: a regenerated key continues the count of the old one.
 * - A window is a minute of the database's clock, which all replicas share. A request counts in the
 *   newest window that any request has opened. So a statement that began in one minute and had to
 *   wait until the next one cannot open the earlier window again.
 * - The first `limit` requests of a window are accepted; all others are refused until the window
 *   ends. A refused request counts too, but makes no difference.
 */

export interface RateWindow {
  /** The start of the window, in milliseconds. */
  readonly startedAt: number;
  readonly requests: number;
}

export const WINDOW_MS = 60_000;

/** The requests that a minute allows, unless the configuration sets other numbers. */
export const DEFAULT_REQUESTS_PER_MINUTE = {
  /** The limit per program and environment, which the contract names. */
  v1: 300,
  /**
   * The limit per program. Calls of the sandbox cost more than those of `/v1`, and arrive in bursts
   * when a test sets up.
   */
  sandbox: 600,
  /** The limit per developer; for sign-in, per client. */
  portal: 300,
  /** The limit per operator. */
  operator: 6_000,
  /** The limit of calls under `/api` without a valid credential, per client and process. */
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

/**
 * The requests that are left in a window after the request at `position`. That request is refused
 * if the number is below 0.
 */
export function remainingAt(position: number, limit: number): number {
  return limit - position;
}

/**
 * Whole seconds until the window ends, at least 1. A caller that waits this long meets the next
 * window.
 */
export function retryAfterSeconds(endsAt: number, now: number): number {
  return Math.max(1, Math.ceil((endsAt - now) / 1_000));
}
