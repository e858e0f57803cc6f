/**
 * Wrong operator tokens are slowed down per client, as sign-ins are (`backoff.ts`): while a client has to wait, its token is not even
 * compared. A right token clears its client, and makes it known: from a known client every token is compared, and only wrong ones are answered
 * with a wait. So guessing elsewhere, or from an operator's own network, never keeps an operator out.
 */
import { type Backoff, freeAt } from './backoff.ts';
import { retryAfterSeconds } from './rate-window.ts';

export const GUESSES: Backoff & { readonly free: number } = {
  free: 10,
  windowMs: 900_000,
  firstDelayMs: 1_000,
  maxDelayMs: 60_000,
};

export interface Guesser {
  readonly isKnown: boolean;
  readonly count: number;
  readonly newest: Date | null;
}

export const STRANGER: Guesser = { isKnown: false, count: 0, newest: null };

export interface Wait {
  readonly limit: number;
  readonly retryAfterSeconds: number;
  readonly resetAt: Date;
}

/** How long the client has to wait; null when it need not. */
export function waitOf(guesser: Guesser, now: Date): Wait | null {
  const resetAt = freeAt(guesser, GUESSES.free, GUESSES, now);
  if (resetAt <= now) return null;
  return { limit: GUESSES.free, retryAfterSeconds: retryAfterSeconds(resetAt.getTime(), now.getTime()), resetAt };
}

/** The client after a wrong token; guesses before the window no longer count. */
export function afterWrong(guesser: Guesser, now: Date): Guesser {
  const isOver = guesser.newest !== null && guesser.newest.getTime() + GUESSES.windowMs <= now.getTime();
  return { ...guesser, count: isOver ? 1 : guesser.count + 1, newest: now };
}

export const AFTER_RIGHT: Guesser = { isKnown: true, count: 0, newest: null };
