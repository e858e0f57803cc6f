/**
 * Secrets at rest: AES-256-GCM under a key from the environment.
 *
 * A sealed text is `version (1 byte) | nonce (12) | ciphertext | tag (16)`. The version is authenticated too, so that a later format can
 * never be read as this one. Nonces are random: one key is good for 2^32 texts (NIST SP 800-38D, 8.3), far beyond the number of secrets.
 */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES;

export type Encryption = {
  /** `boundTo` names what the secret belongs to, for example `endpoint:<id>`: sealed for one owner, it opens for no other. */
  encrypt(text: string, boundTo: string): Buffer;
  /** Throws DecryptionError for a text that was not sealed under this key for this owner, or was changed since. */
  decrypt(sealed: Uint8Array, boundTo: string): string;
};

/** Carries no reason, because a reason would help only an attacker. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
  constructor() {
    super('The sealed text does not open with this key for this owner.');
  }
}

/** The key is 32 bytes. */
export function createEncryption(key: Uint8Array): Encryption {
  if (key.length !== KEY_BYTES) throw new TypeError(`An encryption key has ${KEY_BYTES} bytes, not ${key.length}.`);
  const secretKey = createSecretKey(key);

  return {
    encrypt(text, boundTo) {
      // Half of a surrogate pair has no UTF-8: it would decrypt to another text.
      if (!text.isWellFormed()) throw new TypeError('Only well-formed text can be encrypted.');
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, secretKey, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(authenticated(boundTo));
      return Buffer.concat([
        Buffer.of(VERSION),
        nonce,
        cipher.update(text, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
    },

    decrypt(sealed, boundTo) {
      if (sealed.length < HEADER_BYTES + TAG_BYTES || sealed[0] !== VERSION) throw new DecryptionError();
      const decipher = createDecipheriv(ALGORITHM, secretKey, sealed.subarray(1, HEADER_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(authenticated(boundTo));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = decipher.update(sealed.subarray(HEADER_BYTES, -TAG_BYTES));
      try {
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch {
        throw new DecryptionError();
      }
    },
  };
}

/** The additional authenticated data: the format's version and the owner. */
function authenticated(boundTo: string): Buffer {
  if (!boundTo.isWellFormed()) throw new TypeError('A secret is bound to well-formed text.');
  return Buffer.concat([Buffer.of(VERSION), Buffer.from(boundTo, 'utf8')]);
}
