/**
 * The list of keys that verify receipts and seals: every key of every service that signs, once.
 * Several services may share a key. The period of such a key then spans the periods of all of them,
 * and has no end while one of them still signs with the key.
 */
import { firstOf, lastOf, millisecondsBetween } from '@laurel/values/instant';

export interface ListedSigningKey {
  readonly keyId: string;
  /** SPKI DER of an Ed25519 key. */
  readonly publicKey: Buffer;
  readonly from: Date;
  /** Null while the key is in use. */
  readonly until: Date | null;
}

/** Returns the keys in the order of their first use. */
export function mergeSigningKeys(keys: readonly ListedSigningKey[]): readonly ListedSigningKey[] {
  const byId = new Map<string, ListedSigningKey>();
  for (const key of keys) {
    const known = byId.get(key.keyId);
    byId.set(
      key.keyId,
      known === undefined ? key : { ...key, from: firstOf(known.from, key.from), until: laterEnd(known, key) },
    );
  }
  return [...byId.values()].sort(
    (one, other) => millisecondsBetween(other.from, one.from) || (one.keyId < other.keyId ? -1 : 1),
  );
}

function laterEnd({ until: one }: ListedSigningKey, { until: other }: ListedSigningKey): Date | null {
  if (one === null || other === null) return null;
  return lastOf(one, other);
}
