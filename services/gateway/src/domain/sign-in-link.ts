/**
 * A link that signs a developer in to the portal once, without a password. Its token is made like
 * that of a session. An operator makes the link and gives it to the developer.
 */
import { createHmac } from 'node:crypto';

/** How long a link may be used. A constraint of the table has the same bound. */
export const SIGN_IN_LINK_MS = 15 * 60_000;

/**
 * The hash under which a link is stored: HMAC-SHA-256 under the server's pepper, 32 bytes. Because
 * of the prefix, the token of a link is never accepted as the token of a session.
 */
export function hashLinkToken(pepper: Buffer, token: string): Buffer {
  return createHmac('sha256', pepper).update(`sign-in link:${token}`).digest();
}
