/**
 * What this process caches of keys that resolved. It never caches whether a key works: only the
 * database decides that. A key's program and environment never change, and its hash changes only
 * with the pepper. The other facts are used for a key that was just refused, and while the database
 * cannot be reached.
 */
import { randomBytes } from 'node:crypto';
import { presentTenant } from '@laurel/grpc';
import { LRUCache } from 'lru-cache';
import { hashApiKey, isWellFormedApiKey } from '../domain/api-key.ts';
import type { ApiKeyVerdict } from '../domain/api-key-verdict.ts';
import { hashesUnder, isOutdated, type Peppers } from '../domain/peppers.ts';
import type { Principal } from '../domain/principal.ts';
import type { RateWindow } from '../domain/rate-window.ts';
import type { AdmissionRow, PresentedKey } from '../repository/admissions.ts';

export interface CachedApiKey {
  readonly principal: Principal;
  /** The stored hash last seen. */
  storedHash: string;
  pepperVersion: number;
  /** `performance.now()` of the database's last result. */
  seenAt: number;
  /** The window that this process counts while the database cannot be reached. */
  window: RateWindow | undefined;
  blockedUntil: number;
  refusal: ApiKeyVerdict | undefined;
}

export interface ApiKeyCache {
  /**
   * For a malformed key: a hash that equals no stored one, so that it is looked up like any other.
   */
  presented(key: string | undefined): PresentedKey;
  find(keyHash: string): CachedApiKey | undefined;
  /** The database has just resolved the key. */
  put(row: AdmissionRow): CachedApiKey;
  /** The database refused the key. */
  drop(keyHash: string): void;
  /** The keys that are stored under a pepper earlier than the current one. */
  outdated(): readonly { readonly apiKeyId: string; readonly keyHash: string }[];
  /** These keys are now stored under the current pepper or a later one. */
  rehashed(keys: readonly { readonly keyHash: string }[]): void;
  /**
   * This process revoked the key: an older result of the database that arrives later is not cached.
   */
  revoke(apiKeyId: string): void;
}

/** A cached key takes a few hundred bytes; the least recently used are dropped first. */
const MAX_CACHED_KEYS = 10_000;

export function createApiKeyCache(peppers: Peppers): ApiKeyCache {
  const unknown = presentedAs(hashesUnder(peppers, () => randomBytes(32)));
  const known = new LRUCache<string, CachedApiKey>({ max: MAX_CACHED_KEYS });
  /** Hashing is a pure function, cached because it costs more than everything else here. */
  const hashes = new LRUCache<string, PresentedKey>({ max: MAX_CACHED_KEYS });
  const revoked = new LRUCache<string, true>({ max: MAX_CACHED_KEYS });

  return {
    presented(key) {
      if (key === undefined) return unknown;
      const cached = hashes.get(key);
      if (cached !== undefined) return cached;
      if (!isWellFormedApiKey(key)) return unknown;
      const presented = presentedAs(hashesUnder(peppers, (pepper) => hashApiKey(pepper, key)));
      if (known.has(presented.keyHash)) hashes.set(key, presented);
      return presented;
    },
    find: (keyHash) => known.get(keyHash),
    put(row) {
      const seenAt = performance.now();
      const before = known.get(row.keyHash);
      if (before !== undefined) {
        before.seenAt = seenAt;
        before.window = undefined;
        before.storedHash = row.storedHash;
        before.pepperVersion = row.pepperVersion;
        return before;
      }
      const principal = principalOf(row);
      const { storedHash, pepperVersion } = row;
      const fresh = { window: undefined, blockedUntil: 0, refusal: undefined };
      const key: CachedApiKey = { principal, storedHash, pepperVersion, seenAt, ...fresh };
      if (!revoked.has(row.apiKeyId)) known.set(row.keyHash, key);
      return key;
    },
    drop: (keyHash) => void known.delete(keyHash),
    outdated: () =>
      [...known.entries()].flatMap(([keyHash, { principal, pepperVersion }]) =>
        isOutdated(pepperVersion, peppers) ? [{ apiKeyId: principal.apiKeyId, keyHash }] : [],
      ),
    rehashed(keys) {
      for (const { keyHash } of keys) {
        const key = known.peek(keyHash);
        if (key === undefined) continue;
        key.storedHash = keyHash;
        key.pepperVersion = peppers.current.version;
      }
    },
    revoke(apiKeyId) {
      revoked.set(apiKeyId, true);
      for (const [keyHash, { principal }] of known.entries())
        if (principal.apiKeyId === apiKeyId) known.delete(keyHash);
    },
  };
}

function presentedAs(hashes: readonly Buffer[]): PresentedKey {
  const storedAs = hashes.map((hash) => hash.toString('hex'));
  return { keyHash: storedAs[0] ?? '', storedAs };
}

export function principalOf(row: Pick<AdmissionRow, 'apiKeyId' | 'programId' | 'environment' | 'windowId'>): Principal {
  return {
    apiKeyId: row.apiKeyId,
    programId: row.programId,
    environment: row.environment,
    windowId: row.windowId,
    tenant: presentTenant(row),
  };
}
