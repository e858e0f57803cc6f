/**
 * How failed sign-ins are slowed down (`backoff.ts`).
 * - A client is known to an e-mail once a sign-in with that e-mail has succeeded from that client.
 *   A known client's failures with this e-mail count for that pair alone: no failure elsewhere
 *   slows it down.
 * - A failure from any other client counts three times: for the pair of e-mail and client; for the
 *   client, over all e-mails; and for the e-mail, over all clients that are not known to it. So
 *   guesses from many networks slow each other down. They also slow down the developer's own
 *   sign-in from a new network, each time by at most the longest delay.
 * - A sign-in counts as failed before its password is checked; a right password deletes that
 *   failure. So no more than the free number of wrong passwords are checked, however many sign-ins
 *   arrive at once at any number of replicas.
 * - Only failures count. A refused sign-in is not a failure. Calls with a session are not throttled
 *   here.
 * - No decision here depends on whether an e-mail belongs to a developer.
 */

import { createHmac } from 'node:crypto';
import { isBefore } from '@laurel/values/instant';
import { type Backoff, type Failures, nextTryAt } from './backoff.ts';
import { retryAfterSeconds } from './rate-window.ts';

/** How many failures of each kind are free: they delay no sign-in. */
export interface SignInLimits extends Backoff {
  /** Failures of one e-mail from one client. */
  readonly failuresPerPair: number;
  /** Failures of one e-mail from all clients not known to it. */
  readonly failuresPerEmail: number;
  /** Failures of one client across e-mails that it has never signed in to. */
  readonly failuresPerAddress: number;
}

/** The defaults. */
export const DEFAULT_SIGN_IN_LIMITS = {
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

/**
 * Whether a sign-in is admitted now, or how long it has to wait. If several waits apply, the
 * longest counts.
 */
export function decideSignIn(failures: SignInFailures, limits: SignInLimits, now: Date): SignInDecision {
  const { failuresPerPair, failuresPerEmail, failuresPerAddress } = limits;
  const applying: (readonly [Failures, number])[] = failures.isKnownClient
    ? [[failures.ofPair, failuresPerPair]]
    : [
        [failures.ofPair, failuresPerPair],
        [failures.ofEmail, failuresPerEmail],
        [failures.ofAddress, failuresPerAddress],
      ];
  const waits = applying.map(([some, limit]) => ({ limit, resetAt: nextTryAt(some, limit, limits, now) }));
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
 * The hash under which a failure is stored: HMAC-SHA-256 under the server's pepper, 32 bytes. The
 * text of a pair is an e-mail, a line break and a network.
 */
export function hashSubject(pepper: Buffer, kind: 'email' | 'address' | 'pair' | 'link', subject: string): Buffer {
  return createHmac('sha256', pepper).update(`sign-in ${kind}:${subject}`).digest();
}
