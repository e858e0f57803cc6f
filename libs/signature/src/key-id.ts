/**
 * The id of a public key: its JWK thumbprint (RFC 7638, for Ed25519 RFC 8037), SHA-256 in base64url
 * without padding. It follows from the key alone, so no list can give a key the id of another.
 */
import { createPublicKey, hash } from 'node:crypto';

/**
 * The id of an Ed25519 key in SPKI DER; null for anything else. DER has one encoding of a key, but
 * OpenSSL reads others too, such as a bit string with unused bits. Only OpenSSL's own output is
 * accepted, so that everyone agrees on what is a key.
 */
export function keyIdOf(publicKey: Buffer): string | null {
  try {
    const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
    const { crv, kty, x } = key.export({ format: 'jwk' });
    if (crv !== 'Ed25519' || !key.export({ format: 'der', type: 'spki' }).equals(publicKey)) return null;
    // The members of a thumbprint, in the order of their names.
    return hash('sha256', JSON.stringify({ crv, kty, x }), 'base64url');
  } catch {
    return null;
  }
}
