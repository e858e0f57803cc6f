/**
 * Encrypts secrets at rest: AES-256-GCM under a key from the environment.
 *
 * Under key version 1 a sealed text is `1 | nonce (12 bytes) | ciphertext | tag (16)`. Under every
 * other version it is `2 | key version (4, big-endian) | nonce (12) | ciphertext | tag (16)`.
 * All bytes before the nonce are authenticated too, so no text passes for one of the other format
 * or version. Nonces are random: one key is good for 2^32 texts (NIST SP 800-38D, 8.3), far beyond
 * the number of secrets.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const UNVERSIONED = 1;
const VERSIONED = 2;
const VERSION_BYTES = 4;

/** A key of 32 bytes. Versions start at 1, and each change of the key raises them. */
export type EncryptionKey = { readonly version: number; readonly bytes: Uint8Array };

/** New texts are sealed under the current key; texts under the accepted ones open too. */
export type EncryptionKeys = { readonly current: EncryptionKey; readonly accepted: readonly EncryptionKey[] };

export type Encryption = {
  /** Versions of the keys that open texts; the current key's comes first. */
  readonly versions: readonly number[];
  /**
   * `boundTo` names the secret's owner, for example `endpoint:<id>`: the text opens for no other.
   */
  encrypt(text: string, boundTo: string): Buffer;
  /**
   * Throws DecryptionError if the text was not sealed for this owner under the key that it names,
   * or was altered; UnknownKeyError if that key is not configured.
   */
  decrypt(sealed: Uint8Array, boundTo: string): string;
  /**
   * The same text under the current key; null if it is under that or a later one already. A text
   * never moves to a lower version, so that processes before and after a key change do not undo
   * each other's work. Throws as `decrypt` does.
   */
  reencrypt(sealed: Uint8Array, boundTo: string): Buffer | null;
};

/** Carries no reason, because a reason would help only an attacker. */
export class DecryptionError extends Error {
  override readonly name: string = 'DecryptionError';
  constructor(message = 'The sealed text does not open with this key for this owner.') {
    super(message);
  }
}

/** The text may be intact: the operator must configure the key that it names. */
export class UnknownKeyError extends DecryptionError {
  override readonly name = 'UnknownKeyError';
  constructor(keyVersion: number) {
    super(`The sealed text is under version ${keyVersion} of the key, which is not configured.`);
  }
}

/** Throws TypeError for a key of another length, and for two keys of one version. */
export function createEncryption({ current, accepted }: EncryptionKeys): Encryption {
  const keys = new Map<number, KeyObject>();
  for (const { version, bytes } of [current, ...accepted]) {
    if (bytes.length !== KEY_BYTES)
      throw new TypeError(`An encryption key has ${KEY_BYTES} bytes, not ${bytes.length}.`);
    if (keys.has(version)) throw new TypeError(`Two encryption keys have the version ${version}.`);
    keys.set(version, createSecretKey(bytes));
  }
  const keyOf = (version: number): KeyObject => {
    const key = keys.get(version);
    if (key === undefined) throw new UnknownKeyError(version);
    return key;
  };

  function encrypt(text: string, boundTo: string): Buffer {
    // Half of a surrogate pair has no UTF-8 form, so it would decrypt to another text.
    if (!text.isWellFormed()) throw new TypeError('Only well-formed text can be encrypted.');
    const header = headerOf(current.version);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, keyOf(current.version), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(authenticated(header, boundTo));
    return Buffer.concat([header, nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  }

  function decrypt(sealed: Uint8Array, boundTo: string): string {
    const { header, version } = readHeader(sealed);
    const start = header.length + NONCE_BYTES;
    if (sealed.length < start + TAG_BYTES) throw new DecryptionError();
    const nonce = sealed.subarray(header.length, start);
    const decipher = createDecipheriv(ALGORITHM, keyOf(version), nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(authenticated(header, boundTo));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const text = decipher.update(sealed.subarray(start, -TAG_BYTES));
    try {
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch {
      throw new DecryptionError();
    }
  }

  return {
    versions: [...keys.keys()],
    encrypt,
    decrypt,
    reencrypt(sealed, boundTo) {
      if (keyVersionOf(sealed) >= current.version) return null;
      return encrypt(decrypt(sealed, boundTo), boundTo);
    },
  };
}

/**
 * The key version that the sealed text names. Throws DecryptionError for bytes that are not a
 * sealed text.
 */
export function keyVersionOf(sealed: Uint8Array): number {
  return readHeader(sealed).version;
}

/**
 * SQL for the key version of the column's value: null for null, 0 for bytes that are not a sealed
 * text.
 */
export function keyVersionSql(column: string): string {
  return `case
    when ${column} is null then null
    when substr(${column}, 1, 1) = '\\x0${UNVERSIONED}' then 1
    when substr(${column}, 1, 1) = '\\x0${VERSIONED}' and length(${column}) > ${VERSION_BYTES}
      then ('x' || encode(substr(${column}, 2, ${VERSION_BYTES}), 'hex'))::bit(32)::int
    else 0 end`;
}

/** Texts under version 1 keep the format that was used before keys had versions. */
function headerOf(version: number): Buffer {
  if (version === 1) return Buffer.of(UNVERSIONED);
  const header = Buffer.alloc(1 + VERSION_BYTES, VERSIONED);
  header.writeUInt32BE(version, 1);
  return header;
}

function readHeader(sealed: Uint8Array): { readonly header: Uint8Array; readonly version: number } {
  if (sealed[0] === UNVERSIONED) return { header: sealed.subarray(0, 1), version: 1 };
  if (sealed[0] !== VERSIONED || sealed.length <= VERSION_BYTES) throw new DecryptionError();
  const header = sealed.subarray(0, 1 + VERSION_BYTES);
  return { header, version: Buffer.from(header).readUInt32BE(1) };
}

/** The additional authenticated data: the format, the version of the key and the owner. */
function authenticated(header: Uint8Array, boundTo: string): Buffer {
  if (!boundTo.isWellFormed()) throw new TypeError('A secret is bound to well-formed text.');
  return Buffer.concat([header, Buffer.from(boundTo, 'utf8')]);
}
