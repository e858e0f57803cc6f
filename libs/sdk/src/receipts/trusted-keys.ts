/**
 * Which keys are trusted. A key inside a receipt proves nothing, because a forger can include one.
 * So a receipt is checked against keys that its reader has from elsewhere: pinned by hand, or from
 * the service's list at `/.well-known/laurel-keys.json`.
 *
 * - A document that names its key (`key_id`, under the signature) is checked against that key only.
 *   A document that was signed before keys had ids is checked against each key.
 * - A listed key counts for documents dated within its period: from its first use, inclusive, until
 *   it was replaced, exclusive. A pinned key has no period.
 */
import { areEqual, type Bytes, fromBase64, sha256 } from '../bytes.ts';
import { parseIfJson } from '../strict-json.ts';

export interface TrustedKey {
  /** The key's JWK thumbprint (RFC 7638): SHA-256 in base64url. */
  readonly keyId: string;
  /** The key is encoded as SPKI DER. */
  readonly publicKey: Bytes;
  /** A key whose period is null is valid for documents of any date. */
  readonly period: { readonly from: Date; readonly until: Date | null } | null;
}

export type SignatureVerdict =
  | { readonly kind: 'signed'; readonly key: TrustedKey }
  /** The reason ends a sentence that begins with the document. */
  | { readonly kind: 'not_signed'; readonly reason: string };

/** SPKI DER of an Ed25519 key begins with this (RFC 8410); the key's 32 bytes follow. */
const SPKI_PREFIX = Uint8Array.from([0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]);
const KEY_BYTES = 32;

/** Finds the trusted key that signed a parsed document. */
export async function findSigningKey(
  signed: {
    readonly document: Readonly<Record<string, unknown>>;
    /** The canonical JSON of the document. */
    readonly canonical: string;
    /** The signature is in base64. */
    readonly signature: string;
    /** The name of the member that holds the date of the document. */
    readonly datedBy: string;
  },
  trusted: readonly TrustedKey[],
): Promise<SignatureVerdict> {
  const { document } = signed;
  const { key_id: named } = document;
  const candidates = named === undefined ? trusted : trusted.filter(({ keyId }) => keyId === named);
  if (candidates.length === 0 && named !== undefined) {
    return notSigned(`names the key ${JSON.stringify(named)}, which is not among the trusted ones`);
  }
  const signatures = await Promise.all(candidates.map((key) => isSignedBy(key, signed)));
  const signers = candidates.filter((_, index) => signatures[index]);
  if (signers.length === 0) {
    return notSigned(
      named === undefined ? 'was signed by none of the trusted keys' : 'is not what the key that it names has signed',
    );
  }
  const date = document[signed.datedBy];
  const key = signers.find(({ period }) => period === null || isWithin(period, date));
  if (key !== undefined) return { kind: 'signed', key };
  return notSigned(`is dated ${JSON.stringify(date)}, outside of the period of the key that signed it`);
}

/** A pinned key from SPKI DER in base64; null if the text is not such a key. */
export async function pinnedKey(base64: string): Promise<TrustedKey | null> {
  const publicKey = fromBase64(base64);
  if (publicKey === null || publicKey.length !== SPKI_PREFIX.length + KEY_BYTES) return null;
  if (!areEqual(publicKey.slice(0, SPKI_PREFIX.length), SPKI_PREFIX)) return null;
  const x = base64Url(publicKey.slice(SPKI_PREFIX.length));
  // The members of a thumbprint, in the order of their names.
  const thumbprint = await sha256(new TextEncoder().encode(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })));
  return { keyId: base64Url(thumbprint), publicKey, period: null };
}

/**
 * The keys of the service's list, as text, bytes or parsed JSON; null if it is not such a list.
 * Leaves out keys of future algorithms.
 */
export async function listedKeys(list: unknown): Promise<readonly TrustedKey[] | null> {
  const entries = keysOf(list);
  if (!Array.isArray(entries)) return null;
  const keys: TrustedKey[] = [];
  for (const entry of entries as readonly (Record<string, unknown> | null)[]) {
    if (entry?.algorithm !== 'Ed25519') continue;
    const pinned = typeof entry.public_key === 'string' ? await pinnedKey(entry.public_key) : null;
    const from = instantOf(entry.from);
    const until = entry.until === null ? null : instantOf(entry.until);
    if (pinned === null || pinned.keyId !== entry.key_id || from === null || (until === null && entry.until !== null)) {
      return null;
    }
    keys.push({ ...pinned, period: { from, until } });
  }
  return keys;
}

function keysOf(list: unknown): unknown {
  try {
    return (parseIfJson(list) as { keys?: unknown } | null | undefined)?.keys;
  } catch {
    return undefined;
  }
}

/** Verifies a signature. Malformed keys and signatures are not valid. */
async function isSignedBy(
  { publicKey }: TrustedKey,
  { canonical, signature }: { readonly canonical: string; readonly signature: string },
): Promise<boolean> {
  const bytes = fromBase64(signature);
  if (bytes === null) return false;
  try {
    const key = await crypto.subtle.importKey('spki', publicKey, 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify('Ed25519', key, bytes, new TextEncoder().encode(canonical));
  } catch {
    return false;
  }
}

function isWithin({ from, until }: NonNullable<TrustedKey['period']>, date: unknown): boolean {
  const instant = instantOf(date);
  return instant !== null && instant >= from && (until === null || instant < until);
}

/**
 * Laurel's format of an instant. How `new Date` parses other formats depends on the engine and the
 * time zone.
 */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

function instantOf(text: unknown): Date | null {
  const instant = typeof text === 'string' && INSTANT.test(text) ? new Date(text) : null;
  return instant === null || Number.isNaN(instant.getTime()) ? null : instant;
}

function base64Url(bytes: Bytes): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function notSigned(reason: string): SignatureVerdict {
  return { kind: 'not_signed', reason };
}
