/**
 * A session of an operator's pages: an opaque token of 32 random bytes, of which only a keyed hash
 * is stored. The session also refers to the operator token that opened it, by a keyed hash of the
 * holder's name and the token. So the session is valid only while the configuration has this name
 * with this token.
 */
import { createHmac } from 'node:crypto';

/**
 * How long a session lasts: twelve hours, whatever the setting for a developer's session is,
 * because an operator can move money.
 */
export const OPERATOR_SESSION_MS = 12 * 3_600_000;
/** The most sessions of one operator. A further session ends the operator's oldest one. */
export const MAX_SESSIONS_OF_AN_OPERATOR = 20;

/** The session by whose cookie an operator calls. */
export interface OperatorSession {
  readonly tokenHash: Buffer;
  readonly expiresAt: Date;
}

/** A token of the configuration with its holder. */
export interface OperatorToken {
  /** The operator's name. One name may have two tokens while one replaces the other. */
  readonly name: string;
  readonly token: string;
}

// The prefixes separate these hashes from each other and from all others that the pepper keys.

export function hashOperatorSession(pepper: Buffer, token: string): Buffer {
  return createHmac('sha256', pepper).update(`operator-session:${token}`).digest();
}

/** No name contains a colon, so no other name and token have the same text. */
export function hashOperatorToken(pepper: Buffer, { name, token }: OperatorToken): Buffer {
  return createHmac('sha256', pepper).update(`operator-token:${name}:${token}`).digest();
}
