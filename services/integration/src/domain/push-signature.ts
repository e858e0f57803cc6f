/**
 * The signature of a push (docs/contract/partner-api.md, "Authentication", rule 6): `sha256=` and the HMAC-SHA256 of the body's exact bytes in
 * lower-case hexadecimal, under the integration's signing secret or the one before it, until that is retired.
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

const SIGNATURE = /^sha256=[0-9a-f]{64}$/;
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
  const given = Buffer.from(isWellFormedSignature(signature) ? signature : NO_SIGNATURE);
  const matches = [current, previous].map((secret) => {
    const expected = Buffer.from(sign(secret ?? IN_PLACE_OF_A_SECRET, body));
    return timingSafeEqual(given, expected) && secret !== null;
  });
  return matches.includes(true);
}
