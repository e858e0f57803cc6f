/**
 * Signs a document's bytes (signed-bytes.ts) with Ed25519 (RFC 8032). The signed bytes and the
 * signature are deterministic: the same document and seed always give the same ones, so a replayed
 * operation signs the same receipt again.
 */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { keyIdOf } from './key-id.ts';
import { signedBytesOf, signedTextOf } from './signed-bytes.ts';

/** What was signed, byte for byte, and the 64-byte signature. */
export type SignedDocument = { readonly canonical: string; readonly signature: Buffer };

export interface Signer {
  /** Throws on a document that has no canonical JSON. */
  sign(document: object): SignedDocument;
  readonly keyId: string;
  /** The key is encoded as SPKI DER. */
  readonly publicKey: Buffer;
}

const SEED_BYTES = 32;
// PKCS #8 of an Ed25519 key (RFC 8410) is this fixed prefix, then the seed. Node accepts a raw seed
// in no other form.
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A signer for one key; the seed is its 32 secret bytes. */
export function createSigner(seed: Buffer): Signer {
  if (seed.length !== SEED_BYTES) throw new RangeError(`the signing seed must have ${SEED_BYTES} bytes`);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const keyId = keyIdOf(publicKey);
  if (keyId === null) throw new Error('an Ed25519 key has a thumbprint');
  return {
    keyId,
    publicKey,
    sign(document) {
      const canonical = signedTextOf(document, keyId);
      return { canonical, signature: sign(null, signedBytesOf(canonical), privateKey) };
    },
  };
}
