/**
 * A session of the portal: an opaque token of 32 random bytes, which carries no data. Only its
 * keyed hash is stored. So somebody who can only read the database cannot sign in, and a look-up
 * compares hashes, never the token itself.
 */
import { createHmac, randomBytes } from 'node:crypto';

/** How long a session lasts by default. */
export const DEFAULT_SESSION_HOURS = 12;

const TOKEN_BYTES = 32;

/** The developer who is signed in to the portal, and the session's hash. */
export interface Session {
  readonly developerId: string;
  readonly tokenHash: Buffer;
}

/** A new token of a session or of a sign-in link: 43 characters of base64url. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/**
 * The hash under which a session is stored: HMAC-SHA-256 under the server's pepper, 32 bytes. The
 * prefix separates it from all other hashes that the pepper keys.
 */
export function hashToken(pepper: Buffer, token: string): Buffer {
  return createHmac('sha256', pepper).update(`session:${token}`).digest();
}
