/**
 * The signature of a push (docs/contract/partner-api.md, "Pushed outcomes"): `sha256=` and the HMAC-SHA256 of the body's exact bytes in
 * hexadecimal, under the integration's signing secret or the one before it, until that is retired. Neither the digits nor the name of the
 * scheme have a case: C#'s `Convert.ToHexString` and Java's formatters write upper-case digits.
 *
 * Every push costs the same, two HMACs over its body, whatever is wrong with it: no integration, no secret, no header, another header, another
 * signature. A secret that is missing is replaced by a fixed one, which verifies nothing.
 */
import { timingSafeEqual } from 'node:crypto';
import { signWebhook } from '@laurel/signature';

export type SigningSecrets = { readonly current: string | null; readonly previous: string | null };

export const NO_SECRETS: SigningSecrets = { current: null, previous: null };

/** As long as a secret. */
const IN_PLACE_OF_A_SECRET = '0'.repeat(64);

// Without the flag `u`, under which a long s (U+017F) would match an s.
const SIGNATURE = /^sha256=[0-9a-f]{64}$/i;
/** As long as a signature, and none. */
const NO_SIGNATURE = `sha256=${'-'.repeat(64)}`;

/** Whether a secret could have made it: any other verifies with none. */
export function isWellFormedSignature(signature: string): boolean {
  return SIGNATURE.test(signature);
}

/** `signature` is the header as it was sent, empty when it was missing or doubled. */
export function isSigned(
  { body, signature }: { readonly body: Uint8Array; readonly signature: string },
  { current, previous }: SigningSecrets,
  sign: typeof signWebhook = signWebhook,
): boolean {
  const given = Buffer.from(isWellFormedSignature(signature) ? signature.toLowerCase() : NO_SIGNATURE);
  const matches = [current, previous].map((secret) => {
    const expected = Buffer.from(sign(secret ?? IN_PLACE_OF_A_SECRET, body));
    return timingSafeEqual(given, expected) && secret !== null;
  });
  return matches.includes(true);
}
