/**
 * The verdicts on requests by their keys: as the database counted them, or from this process's
 * cache.
 *
 * - A refused key is refused from the cache for at most a second, and never beyond its window. Its
 *   window can only fill further, so the refusal stays true. If the key is revoked or gets a higher
 *   limit meanwhile, callers see that at most a second late.
 * - While the database cannot be reached, a key seen in the last 60 s passes on its cached facts,
 *   counted in this process alone. `laurel_admission_fallbacks_total` counts these requests.
 */
import { counter } from '@laurel/telemetry';
import type { ApiKeyVerdict } from '../domain/api-key-verdict.ts';
import type { Principal } from '../domain/principal.ts';
import { countRequests, remainingAt, retryAfterSeconds } from '../domain/rate-window.ts';
import type { AdmissionRow } from '../repository/admissions.ts';
import type { ApiKeyCache, CachedApiKey } from './api-key-cache.ts';

export interface ApiKeyVerdicts {
  /**
   * One verdict per request, by the hash of its key. A key's requests take their positions in its
   * window in order of arrival.
   */
  byCount(keyHashes: readonly string[], counted: readonly AdmissionRow[]): ApiKeyVerdict[];
  /** The last refusal, if it is recent enough; undefined if the database has to decide. */
  byLastRefusal(keyHash: string): ApiKeyVerdict | undefined;
  /** The verdict while the database cannot be reached; undefined if too little is cached. */
  byCache(keyHash: string): ApiKeyVerdict | undefined;
}

const UNAUTHORIZED: ApiKeyVerdict = { kind: 'unauthorized' };
const BLOCK_MS = 1_000;
const TRUST_WITHOUT_DATABASE_MS = 60_000;

export function createApiKeyVerdicts(
  keys: ApiKeyCache,
  { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
): ApiKeyVerdicts {
  const fallbacks = counter(
    'laurel_admission_fallbacks_total',
    'Requests admitted or refused without the database, because it could not be reached.',
    ['outcome'],
  );

  const refuse = (key: CachedApiKey, { now, windowEndsAt }: AdmissionRow): ApiKeyVerdict => {
    key.refusal ??= limited(key.principal, windowEndsAt, now);
    key.blockedUntil = performance.now() + Math.min(BLOCK_MS, Math.max(0, windowEndsAt - now));
    return key.refusal;
  };

  return {
    byCount(keyHashes, counted) {
      const wanted = countByKey(keyHashes);
      const windows = new Map<string, { row: AdmissionRow; position: number; key: CachedApiKey }>();
      for (const row of counted) {
        const position = row.requests - (wanted.get(row.keyHash) ?? 0);
        windows.set(row.keyHash, { row, position, key: keys.put(row) });
      }
      return keyHashes.map((keyHash) => {
        const window = windows.get(keyHash);
        if (window === undefined) {
          keys.drop(keyHash);
          return UNAUTHORIZED;
        }
        window.position += 1;
        const remaining = remainingAt(window.position, limit);
        const { principal } = window.key;
        return remaining >= 0 ? { kind: 'admitted', principal, remaining } : refuse(window.key, window.row);
      });
    },
    byLastRefusal(keyHash) {
      const key = keys.find(keyHash);
      if (key?.refusal === undefined || performance.now() < key.blockedUntil) return key?.refusal;
      key.refusal = undefined;
      return undefined;
    },
    byCache(keyHash) {
      const key = keys.find(keyHash);
      if (key === undefined || performance.now() - key.seenAt > TRUST_WITHOUT_DATABASE_MS) return undefined;
      const now = Date.now();
      key.window = countRequests(key.window, now, 1, windowMs);
      const remaining = remainingAt(key.window.requests, limit);
      fallbacks.inc({ outcome: remaining >= 0 ? 'admitted' : 'limited' });
      const { principal, window } = key;
      return remaining >= 0
        ? { kind: 'admitted', principal, remaining }
        : limited(principal, window.startedAt + windowMs, now);
    },
  };
}

/** How many requests use each key. */
function countByKey(keyHashes: readonly string[]): Map<string, number> {
  const wanted = new Map<string, number>();
  for (const keyHash of keyHashes) wanted.set(keyHash, (wanted.get(keyHash) ?? 0) + 1);
  return wanted;
}

function limited(principal: Principal, windowEndsAt: number, now: number): ApiKeyVerdict {
  return {
    kind: 'limited',
    principal,
    retryAfterSeconds: retryAfterSeconds(windowEndsAt, now),
    resetAt: new Date(windowEndsAt),
  };
}
