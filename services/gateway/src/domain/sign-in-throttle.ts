/**
 * How sign-ins that fail are slowed down (`backoff.ts`).
 * - A client is known to an e-mail when a sign-in with that e-mail has succeeded from there. Failures of a known client with this e-mail count
 *   for that pair alone: no failure elsewhere slows it down.
 * - A failure of any other client counts three times: for the pair of e-mail and client, for the client with all its e-mails, and for the
 *   e-mail from all clients that it does not know. So guesses from many networks are slowed down together; so is, by up to the longest wait at
 *   a time, a developer who signs in from a new network meanwhile.
 * - A sign-in counts as failed before its password is checked, and the failure is taken back when the password is right. So however many
 *   arrive concurrently, over however many replicas, no more than the free number of passwords are checked and fail.
 * - Only failures count, and a refused sign-in is none. Calls with a session are not throttled here.
 * - No decision here depends on whether an e-mail belongs to a developer.
 */

import { createHmac } from 'node:crypto';
import { isBefore } from '@laurel/instant';
import { type Backoff, type Failures, freeAt } from './backoff.ts';
import { retryAfterSeconds } from './rate-window.ts';

/** How many failures are free. */
export interface SignInLimits extends Backoff {
  /** Of one e-mail from one client. */
  readonly failuresPerPair: number;
  /** Of one e-mail, from all clients that it does not know. */
  readonly failuresPerEmail: number;
  /** Of one client, with all e-mails that do not know it. */
  readonly failuresPerAddress: number;
}

/** Unless the host sets others. */
export const DEFAULT_SIGN_IN = {
  windowMinutes: 15,
  failuresPerPair: 5,
  failuresPerEmail: 20,
  failuresPerAddress: 100,
  firstDelaySeconds: 1,
  maxDelaySeconds: 60,
} as const;

export interface SignInFailures {
  readonly isKnownClient: boolean;
  readonly ofPair: Failures;
  readonly ofEmail: Failures;
  readonly ofAddress: Failures;
}

export type SignInDecision =
  | { readonly kind: 'admitted' }
  | {
      readonly kind: 'limited';
      readonly limit: number;
      readonly retryAfterSeconds: number;
      readonly resetAt: Date;
    };

/** Where several waits apply, the longest one is answered. */
export function decideSignIn(failures: SignInFailures, limits: SignInLimits, now: Date): SignInDecision {
  const { failuresPerPair, failuresPerEmail, failuresPerAddress } = limits;
  const applying: (readonly [Failures, number])[] = failures.isKnownClient
    ? [[failures.ofPair, failuresPerPair]]
    : [
        [failures.ofPair, failuresPerPair],
        [failures.ofEmail, failuresPerEmail],
        [failures.ofAddress, failuresPerAddress],
      ];
  const waits = applying.map(([some, limit]) => ({ limit, resetAt: freeAt(some, limit, limits, now) }));
  const longest = waits.reduce((one, other) => (isBefore(one.resetAt, other.resetAt) ? other : one));
  if (!isBefore(now, longest.resetAt)) return { kind: 'admitted' };
  return {
    kind: 'limited',
    limit: longest.limit,
    retryAfterSeconds: retryAfterSeconds(longest.resetAt.getTime(), now.getTime()),
    resetAt: longest.resetAt,
  };
}

/**
 * The key under which a failure is stored: HMAC-SHA-256 under the server's pepper, 32 bytes. A pair is an e-mail, a line break and a network.
 */
export function hashSubject(pepper: Buffer, kind: 'email' | 'address' | 'pair', subject: string): Buffer {
  return createHmac('sha256', pepper).update(`sign-in ${kind}:${subject}`).digest();
}
