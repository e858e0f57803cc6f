/**
 * Signatures of webhooks and of pushed outcomes: `sha256=` and the hexadecimal HMAC-SHA256 of the
 * body's exact bytes. Written in lower case, read in either. The key is the whole secret in UTF-8.
 */
import { type Bytes, fromHex, toHex } from './bytes.ts';
import { isWellFormed } from './strict-json.ts';

/** The bytes that are sent or arrived, or their text in UTF-8. */
export type RawBody = Uint8Array | ArrayBuffer | string;

const PREFIX = 'sha256=';
/** The hexadecimal digits may have either case; the name of the scheme must be in lower case. */
const SIGNATURE = /^sha256=[0-9a-fA-F]{64}$/;
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

/**
 * The `X-Webhook-Signature` that Laurel sends with this body: for tests of a receiver. Rejects for
 * an empty secret.
 */
export async function signWebhook(body: RawBody, secret: string): Promise<string> {
  const signature = await crypto.subtle.sign('HMAC', await hmacKeyOf(secret, 'sign'), bytesOf(body));
  return `${PREFIX}${toHex(new Uint8Array(signature))}`;
}

/**
 * The `X-Service-Signature` of outcomes that are pushed to an integration. `secret` is the text of
 * its signing secret, all 64 characters, not the bytes that they spell. Send exactly these bytes.
 */
export function signIntegrationBody(body: RawBody, secret: string): Promise<string> {
  return signWebhook(body, secret);
}

export function isSignature(text: unknown): text is string {
  return typeof text === 'string' && SIGNATURE.test(text);
}

/** Whether one of the secrets signed the body. Constant time. */
export async function isSignedByAny(body: Bytes, signature: string, secrets: readonly string[]): Promise<boolean> {
  const given = fromHex(signature.slice(PREFIX.length)) ?? new Uint8Array();
  const matches = await Promise.all(
    secrets.map(async (secret) => crypto.subtle.verify('HMAC', await hmacKeyOf(secret, 'verify'), given, body)),
  );
  return matches.includes(true);
}

/** Throws a TypeError for values that are neither bytes nor text, and for text without UTF-8. */
export function bytesOf(body: RawBody): Bytes {
  if (typeof body === 'string') {
    if (isWellFormed(body)) return new TextEncoder().encode(body);
    throw new TypeError('the body has half of a surrogate pair, so it is not the raw text');
  }
  // The check does not use instanceof: bytes may come from another realm.
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength);
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body);
  throw new TypeError('the body must be the raw bytes, or the raw text');
}

async function hmacKeyOf(secret: string, use: 'sign' | 'verify') {
  if (typeof secret !== 'string' || secret === '' || !isWellFormed(secret))
    throw new TypeError('a signing secret is missing');
  return await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), HMAC, false, [use]);
}
