/**
 * A session of the portal: an opaque token of 32 random bytes, which says nothing and is stored nowhere. What is stored is its keyed
 * hash, so that whoever reads the database cannot sign in with what it holds, and looking a token up compares no secret byte by byte.
 */
import { createHmac, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

/** 43 characters of base64url. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** HMAC-SHA-256 under the server's pepper, 32 bytes. The prefix keeps it apart from everything else that the pepper keys. */
export function hashToken(pepper: Buffer, token: string): Buffer {
  return createHmac('sha256', pepper).update(`session:${token}`).digest();
}
