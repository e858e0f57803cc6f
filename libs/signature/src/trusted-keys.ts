/**
 * Which keys are trusted. A document proves nothing by a key that comes with it: a forger can include a key. So it is checked against
 * keys that its reader has from elsewhere: pinned by hand, or from the service's list at `/.well-known/laurel-keys.json`.
 *
 * - A document that names its key (`key_id`, under the signature) is checked against that key alone. Documents from before keys had ids
 *   are checked against each.
 * - A key of the list counts for what is dated within its period: from its first use, inclusive, until it was replaced, exclusive. A pinned
 *   key has no period.
 */
import { keyIdOf } from './key-id.ts';
import { verifySignature } from './signature.ts';

export type TrustedKey = {
  readonly keyId: string;
  /** SPKI DER. */
  readonly publicKey: Buffer;
  /** Null: whenever the document is dated. */
  readonly period: { readonly from: Date; readonly until: Date | null } | null;
};

export type SignatureVerdict =
  | { readonly kind: 'signed'; readonly key: TrustedKey }
  /** The end of a sentence about the document. */
  | { readonly kind: 'not_signed'; readonly reason: string };

/** Which trusted key signed a document that came as JSON. Never throws. */
export function findSigningKey(
  signed: {
    readonly document: Readonly<Record<string, unknown>>;
    /** Its canonical JSON. */
    readonly canonical: string;
    readonly signature: Buffer;
    /** The member with its date. */
    readonly datedBy: string;
  },
  trusted: readonly TrustedKey[],
): SignatureVerdict {
  const { document, canonical, signature } = signed;
  const { key_id: named } = document;
  const candidates = named === undefined ? trusted : trusted.filter(({ keyId }) => keyId === named);
  if (candidates.length === 0 && named !== undefined) {
    return notSigned(`names the key ${JSON.stringify(named)}, which is not among the trusted ones`);
  }
  const signers = candidates.filter(({ publicKey }) => verifySignature({ canonical, signature, publicKey }));
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

/** A pinned key, SPKI DER in base64; null when the text is not one. */
export function pinnedKey(base64: string): TrustedKey | null {
  const publicKey = Buffer.from(base64, 'base64');
  const keyId = keyIdOf(publicKey);
  return keyId === null ? null : { keyId, publicKey, period: null };
}

/** The keys of the service's list, as parsed JSON; null when it is not such a list. Keys of future algorithms are left out. */
export function listedKeys(list: unknown): readonly TrustedKey[] | null {
  const entries = (list as { keys?: unknown } | null | undefined)?.keys;
  if (!Array.isArray(entries)) return null;
  const keys: TrustedKey[] = [];
  for (const entry of entries as readonly (Record<string, unknown> | null)[]) {
    if (entry?.algorithm !== 'Ed25519') continue;
    const pinned = typeof entry.public_key === 'string' ? pinnedKey(entry.public_key) : null;
    const from = instantOf(entry.from);
    const until = entry.until === null ? null : instantOf(entry.until);
    if (pinned === null || pinned.keyId !== entry.key_id || from === null || (until === null && entry.until !== null)) {
      return null;
    }
    keys.push({ ...pinned, period: { from, until } });
  }
  return keys;
}

function isWithin({ from, until }: NonNullable<TrustedKey['period']>, date: unknown): boolean {
  const at = instantOf(date);
  return at !== null && from <= at && (until === null || at < until);
}

function instantOf(text: unknown): Date | null {
  const instant = typeof text === 'string' ? new Date(text) : null;
  return instant === null || Number.isNaN(instant.getTime()) ? null : instant;
}

function notSigned(reason: string): SignatureVerdict {
  return { kind: 'not_signed', reason };
}
