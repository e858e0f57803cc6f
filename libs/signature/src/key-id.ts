/**
 * The id of a public key: its JWK thumbprint (RFC 7638, for Ed25519 as RFC 8037 shows it), SHA-256 in base64url without padding. It follows
 * from the key alone, so no list can give a key the id of another.
 */
import { createPublicKey, hash } from 'node:crypto';

/** Of an Ed25519 key in SPKI DER; null for anything else. */
export function keyIdOf(publicKey: Buffer): string | null {
  try {
    const { crv, kty, x } = createPublicKey({ key: publicKey, format: 'der', type: 'spki' }).export({ format: 'jwk' });
    if (crv !== 'Ed25519') return null;
    // The members of a thumbprint, in the order of their names.
    return hash('sha256', JSON.stringify({ crv, kty, x }), 'base64url');
  } catch {
    return null;
  }
}
