/**
 * What this process remembers of keys that resolved. Whether a key works is never remembered: only the database says that. What never
 * changes is a key's hash, program and environment; the rest is for a key that was refused, and for a database that is out of reach.
 */
import { randomBytes } from 'node:crypto';
import { Environment, type Tenant } from '@laurel/proto/common';
import { LRUCache } from 'lru-cache';
import { hashKey, isWellFormedKey, type KeyEnvironment } from '../domain/api-key.ts';
import type { RateWindow } from '../domain/rate-window.ts';
import type { AdmissionRow } from '../repository/admissions.ts';
import type { KeyVerdict } from './key-verdicts.ts';

/** Whom a key speaks for. */
export interface Principal {
  readonly keyId: string;
  readonly programId: string;
  readonly environment: KeyEnvironment;
  /** The same, as the services take it. */
  readonly tenant: Tenant;
}

export interface KnownKey {
  readonly principal: Principal;
  /** `performance.now()` of the last answer of the database. */
  seenAt: number;
  /** The window that this process counts while the database cannot. */
  window: RateWindow | undefined;
  blockedUntil: number;
  refusal: KeyVerdict | undefined;
}

export interface KeyMemory {
  /** Hexadecimal; of a malformed key it is what no stored hash equals, which sends it on the way of the others. */
  hashOf(key: string | undefined): string;
  recall(keyHash: string): KnownKey | undefined;
  /** The database resolved the key just now. */
  remember(row: AdmissionRow): KnownKey;
  /** The key does not resolve, or no longer. */
  forget(keyHash: string): void;
  /** The key was revoked by this process: an answer of the database that is older and arrives later is not remembered. */
  revoke(keyHash: string): void;
}

/** Keys remembered, each some hundred bytes; those that nobody used for longest go first. */
const MAX_REMEMBERED_KEYS = 10_000;

export function createKeyMemory(pepper: Buffer): KeyMemory {
  const nobody = randomBytes(32).toString('hex');
  const known = new LRUCache<string, KnownKey>({ max: MAX_REMEMBERED_KEYS });
  /** A pure function, remembered because it costs more than all else here. */
  const hashes = new LRUCache<string, string>({ max: MAX_REMEMBERED_KEYS });
  const revoked = new LRUCache<string, true>({ max: MAX_REMEMBERED_KEYS });

  return {
    hashOf(key) {
      if (key === undefined) return nobody;
      const remembered = hashes.get(key);
      if (remembered !== undefined) return remembered;
      if (!isWellFormedKey(key)) return nobody;
      const keyHash = hashKey(pepper, key).toString('hex');
      if (known.has(keyHash)) hashes.set(key, keyHash);
      return keyHash;
    },
    recall: (keyHash) => known.get(keyHash),
    remember(row) {
      const seenAt = performance.now();
      const before = known.get(row.keyHash);
      if (before !== undefined) {
        before.seenAt = seenAt;
        before.window = undefined;
        return before;
      }
      const principal = principalOf(row);
      const key: KnownKey = { principal, seenAt, window: undefined, blockedUntil: 0, refusal: undefined };
      if (!revoked.has(row.keyHash)) known.set(row.keyHash, key);
      return key;
    },
    forget: (keyHash) => void known.delete(keyHash),
    revoke(keyHash) {
      revoked.set(keyHash, true);
      known.delete(keyHash);
    },
  };
}

export function principalOf(row: Pick<AdmissionRow, 'keyId' | 'programId' | 'environment'>): Principal {
  const environment = row.environment === 'live' ? Environment.LIVE : Environment.TEST;
  return {
    keyId: row.keyId,
    programId: row.programId,
    environment: row.environment,
    tenant: { programId: row.programId, environment },
  };
}
