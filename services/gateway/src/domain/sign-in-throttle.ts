/**
 * How many sign-ins may fail: so many with one e-mail, and so many from one client address, in any stretch of the window's length.
 * - A sign-in counts as failed before its password is looked at, and is taken back when the password is right. So however many come
 *   at once, over however many replicas, never more than the limit have a password looked at and fail.
 * - Only failures count, and a refused sign-in is none: who is refused is let in again when the oldest failure that counts is old enough.
 * - Nothing here knows whether an e-mail belongs to anybody.
 */
import { createHmac } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { retryAfterSeconds } from './rate-window.ts';

export interface SignInLimits {
  readonly failuresPerEmail: number;
  readonly failuresPerAddress: number;
  readonly windowMs: number;
}

/** When the failure that fills the limit happened: the `limit`-th newest within the window; null while there are fewer. */
export interface FillingFailures {
  readonly ofEmail: Date | null;
  readonly ofAddress: Date | null;
}

export type SignInDecision =
  | { readonly kind: 'admitted' }
  | {
      readonly kind: 'limited';
      readonly limit: number;
      readonly retryAfterSeconds: number;
      readonly resetAt: Date;
    };

/** When both are full, the one that stays full longer is told. */
export function decideSignIn(filling: FillingFailures, limits: SignInLimits, now: Date): SignInDecision {
  const { failuresPerEmail, failuresPerAddress, windowMs } = limits;
  const endOf = (failedAt: Date | null) => (failedAt === null ? now.getTime() : failedAt.getTime() + windowMs);
  const emailFreeAt = endOf(filling.ofEmail);
  const addressFreeAt = endOf(filling.ofAddress);
  const freeAt = Math.max(emailFreeAt, addressFreeAt);
  if (freeAt <= now.getTime()) return { kind: 'admitted' };
  return {
    kind: 'limited',
    limit: emailFreeAt >= addressFreeAt ? failuresPerEmail : failuresPerAddress,
    retryAfterSeconds: retryAfterSeconds(freeAt, now.getTime()),
    resetAt: new Date(freeAt),
  };
}

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const GROUPS = 8;
const GROUPS_OF_A_NETWORK = 4;

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 address, all of which one subscriber has. */
export function networkOf(address: string): string {
  const mapped = MAPPED_IPV4.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.toLowerCase().replace(/%.*/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(Math.max(0, GROUPS - left.length - right.length)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, GROUPS_OF_A_NETWORK);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** Under what a failure is kept: HMAC-SHA-256 under the server's pepper, 32 bytes. */
export function hashSubject(pepper: Buffer, kind: 'email' | 'address', subject: string): Buffer {
  return createHmac('sha256', pepper).update(`sign-in ${kind}:${subject}`).digest();
}
