/**
 * The signature of a push (docs/contract/partner-api.md, "Pushed outcomes"): `sha256=` and the
 * HMAC-SHA256 of the body's exact bytes in hexadecimal. The key is the integration's signing
 * secret, or the previous one until the partner retires it. Case does not matter, in the digits or
 * in the scheme's name: C#'s `Convert.ToHexString` and Java's formatters write upper-case digits.
 *
 * Every push costs two HMACs over its body, whatever is wrong with it: no integration, no secret,
 * no header, a malformed header, a wrong signature. A fixed secret, which verifies nothing, takes
 * the place of a missing one.
 */
import { timingSafeEqual } from 'node:crypto';
import { signWebhook } from '@laurel/signature';

export type SigningSecrets = { readonly current: string | null; readonly previous: string | null };

export const NO_SECRETS: SigningSecrets = { current: null, previous: null };

/** A dummy of a secret's length. */
const DUMMY_SECRET = '0'.repeat(64);

// The pattern has no flag `u`, with which a long s (U+017F) would match an s.
const SIGNATURE = /^sha256=[0-9a-f]{64}$/i;
/** A dummy of a signature's length, compared so that timing reveals nothing. */
const NO_SIGNATURE = `sha256=${'-'.repeat(64)}`;

/** Whether the signature has the form that any secret produces; otherwise no secret verifies it. */
export function isWellFormedSignature(signature: string): boolean {
  return SIGNATURE.test(signature);
}

/**
 * Whether a secret of the integration signed the body. `signature` is the unchanged header, or
 * empty if it was missing or repeated.
 */
export function isSigned(
  { body, signature }: { readonly body: Uint8Array; readonly signature: string },
  { current, previous }: SigningSecrets,
  sign: typeof signWebhook = signWebhook,
): boolean {
  const given = Buffer.from(isWellFormedSignature(signature) ? signature.toLowerCase() : NO_SIGNATURE);
  const matches = [current, previous].map((secret) => {
    const expected = Buffer.from(sign(secret ?? DUMMY_SECRET, body));
    return timingSafeEqual(given, expected) && secret !== null;
  });
  return matches.includes(true);
}
