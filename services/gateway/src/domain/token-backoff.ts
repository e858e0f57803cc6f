/**
 * Wrong operator tokens are slowed down per client, as sign-ins are (`backoff.ts`): while a client
 * must wait, its token is not even compared. A right token clears its client and makes it known.
 * Every token from a known client is compared, even during a wait, and only a wrong token gets a
 * refusal. So wrong tokens from elsewhere, or from an operator's own network, never keep an
 * operator out.
 */
import { isBefore, millisecondsBetween } from '@laurel/values/instant';
import { type Backoff, type Failures, nextTryAt } from './backoff.ts';
import { retryAfterSeconds } from './rate-window.ts';

export const TOKEN_BACKOFF: Backoff & { readonly free: number } = {
  free: 10,
  windowMs: 900_000,
  firstDelayMs: 1_000,
  maxDelayMs: 60_000,
};

/** A client's wrong tokens. A client is known once it has presented a right one. */
export interface TokenFailures extends Failures {
  readonly isKnown: boolean;
}

export const UNKNOWN_CLIENT: TokenFailures = { isKnown: false, count: 0, newest: null };
/** The state after a right token. */
export const KNOWN_CLIENT: TokenFailures = { isKnown: true, count: 0, newest: null };

export interface BackoffWait {
  readonly limit: number;
  readonly retryAfterSeconds: number;
  readonly resetAt: Date;
}

/** How long the client must wait; null if it need not. */
export function waitOf(failures: TokenFailures, now: Date): BackoffWait | null {
  const resetAt = nextTryAt(failures, TOKEN_BACKOFF.free, TOKEN_BACKOFF, now);
  if (!isBefore(now, resetAt)) return null;
  return { limit: TOKEN_BACKOFF.free, retryAfterSeconds: retryAfterSeconds(resetAt.getTime(), now.getTime()), resetAt };
}

/** Adds one failure. The count restarts if the newest failure is older than the window. */
export function afterWrongToken(failures: TokenFailures, now: Date): TokenFailures {
  const isOver = failures.newest !== null && millisecondsBetween(failures.newest, now) >= TOKEN_BACKOFF.windowMs;
  return { ...failures, count: isOver ? 1 : failures.count + 1, newest: now };
}
