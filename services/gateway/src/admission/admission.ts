/**
 * Authentication and rate limiting, decided together by one statement per batch of concurrent
 * requests.
 *
 * - The same statement looks up every key, even a malformed one. So every 401, whatever its cause,
 *   takes the same number of round trips.
 * - While the database can be reached, no key is admitted on cached facts: a revoked key or a
 *   suspended program stops immediately on every replica. Requests of a program and environment are
 *   counted exactly across replicas, whichever of its API keys they carry.
 * - If the API key is in the cache, the statement that admits a request also locks the request's
 *   idempotency key: one round trip instead of two. These requests are batched apart from all
 *   others, which lock nothing.
 * - The body of such a request is therefore read before it is admitted, and counts against its API
 *   key (`body-budget.ts`). For all other requests no byte is read before the API key has proved
 *   valid. So a caller without a valid key cannot make this process hold any bytes.
 * - While the database cannot be reached, API keys pass for a limited time on cached facts
 *   (`api-key-verdicts.ts`). Reads then continue; a request that needs an idempotency record fails
 *   with 500.
 */
import { QueueFullError } from '@laurel/coalesce';
import { LostReplyError } from '@laurel/failpoint';
import type { Database } from '@laurel/postgres';
import type { Clock, Logger } from '@laurel/service';
import type { Request, RequestHandler, Response } from 'express';
import type { ApiKeyEnvironment } from '../domain/api-key.ts';
import type { ApiKeyVerdict } from '../domain/api-key-verdict.ts';
import type { Peppers } from '../domain/peppers.ts';
import type { Principal } from '../domain/principal.ts';
import { WINDOW_MS } from '../domain/rate-window.ts';
import { failpoint } from '../failpoints.ts';
import { sendError, sendJson, tooManyRequests } from '../http/answer.ts';
import { contextOf } from '../http/context.ts';
import { type BodyReader, hasBody } from '../http/raw-body.ts';
import type { Idempotency } from '../idempotency/idempotency.ts';
import type { IdempotencyUseOf } from '../idempotency/idempotency-use.ts';
import { firstByRecord, firstLockOf } from '../idempotency/lock-records.ts';
import {
  type AskedKey,
  countAdmissions,
  countAdmissionsAndLockKeys,
  type KnownKey,
  type PresentedKey,
  type RequestedLock,
  readAdmission,
} from '../repository/admissions.ts';
import { rehashKeys } from '../repository/api-keys.ts';
import { batchStatement } from '../repository/batched-statement.ts';
import type { IdempotencyLock, IdempotencyUse } from '../repository/idempotency-records.ts';
import { type CachedApiKey, createApiKeyCache, principalOf } from './api-key-cache.ts';
import { createApiKeyVerdicts } from './api-key-verdicts.ts';

/**
 * If an admitted request has no `idempotencyLock`, it has nothing to lock, or has to lock its
 * idempotency key itself.
 */
export type Verdict = ApiKeyVerdict & { readonly idempotencyLock?: IdempotencyLock };

export interface Admission extends AsyncDisposable {
  /** Requests per program, environment and minute. */
  readonly limit: number;
  /**
   * Resolves the key and counts one request against it. Rejects when the database cannot decide.
   * `useOf` returns what the request would lock; it is called only if the key is in the cache.
   */
  admit(key: string | undefined, useOf?: (principal: Principal) => IdempotencyUse | null): Promise<Verdict>;
  /**
   * The key's principal when this process last resolved the key. Undefined if this process never
   * resolved the key, or has refused it since.
   */
  cached(key: string | undefined): Principal | undefined;
  /** Resolves the key without counting: for the gateway's own routes. */
  identify(key: string | undefined): Promise<Principal | null>;
  /**
   * Forgets a key that this process revoked. From then on no cached fact admits the key, not even
   * while the database is down.
   */
  revoke(apiKeyId: string): void;
  /**
   * Hashes again, under the current pepper, the keys that were used here and are still stored under
   * an earlier pepper.
   */
  rehashKeys(): Promise<void>;
}

/** A request whose key is in the cache. */
type KnownRequest = RequestedLock & { readonly keyHash: string; readonly key: CachedApiKey };

/** A database that takes longer to answer counts as unreachable. */
const DATABASE_DEADLINE_MS = 2_000;

export function createAdmission(options: {
  database: Database;
  idempotency: Pick<Idempotency, 'carryCompletions' | 'release'>;
  peppers: Peppers;
  acceptedEnvironments: readonly ApiKeyEnvironment[];
  limit: number;
  clock: Clock;
  logger: Logger;
  windowMs?: number;
}): Admission {
  const { database, idempotency, peppers, acceptedEnvironments, limit, clock, logger, windowMs = WINDOW_MS } = options;
  const counting = { acceptedEnvironments, windowMs, limit };
  const keys = createApiKeyCache(peppers);
  const verdicts = createApiKeyVerdicts(keys, counting);

  const admissions = batchStatement<PresentedKey, Verdict>('admission', async (presented) =>
    verdicts.byCount(
      presented.map(({ keyHash }) => keyHash),
      await countAdmissions(database, askedKeys(presented), counting),
    ),
  );

  const admissionsWithKeyLock = batchStatement<KnownRequest, Verdict>('admission_with_key_lock', async (requests) => {
    const keyHashes = requests.map((request) => request.keyHash);
    const wanted = wantedKeys(requests);
    const first = firstByRecord(requests);
    await failpoint('gateway.lock.before-commit');
    // The time is read before the waiting completions are taken along: `clock` throws while the
    // time is unknown.
    const now = clock();
    const { rows, lockedIds } = await idempotency.carryCompletions((completions) => {
      const locking = { uses: [...first.values()], completions, now };
      return countAdmissionsAndLockKeys(database, wanted, { ...counting, ...locking });
    });
    await failpoint('gateway.lock.after-commit');
    return verdicts.byCount(keyHashes, rows).map((verdict, index) => {
      const request = requests[index];
      if (request === undefined || first.get(request.recordId) !== request) return verdict;
      return lockedIds.has(request.recordId) ? { ...verdict, idempotencyLock: firstLockOf(request) } : verdict;
    });
  });

  return {
    limit,
    async admit(key, useOf) {
      const presented = keys.presented(key);
      const { keyHash } = presented;
      const refusal = verdicts.byLastRefusal(keyHash);
      if (refusal !== undefined) return refusal;
      const known = keys.find(keyHash);
      const use = known === undefined || useOf === undefined ? null : useOf(known.principal);
      const deadline = { deadlineAt: Date.now() + DATABASE_DEADLINE_MS };
      try {
        if (use === null || known === undefined) return await admissions.submit(presented, deadline);
        const { apiKeyId } = known.principal;
        return await admissionsWithKeyLock.submit({ ...use, keyHash, apiKeyId, key: known }, deadline);
      } catch (error) {
        if (error instanceof QueueFullError) throw error;
        logger.debug({ err: error }, 'admission without the database');
        const verdict = error instanceof LostReplyError ? undefined : verdicts.byCache(keyHash);
        // The idempotency lock may have been committed nevertheless. An admitted request asks again
        // and finds its own lock; otherwise the lock is released.
        if (use !== null && verdict?.kind !== 'admitted') void idempotency.release(firstLockOf(use));
        if (verdict === undefined) throw error;
        return verdict;
      }
    },
    cached(key) {
      const { keyHash } = keys.presented(key);
      return verdicts.byLastRefusal(keyHash) === undefined ? keys.find(keyHash)?.principal : undefined;
    },
    async identify(key) {
      const row = await readAdmission(database, keys.presented(key).storedAs, acceptedEnvironments);
      return row === undefined ? null : principalOf(row);
    },
    revoke: (apiKeyId) => keys.revoke(apiKeyId),
    async rehashKeys() {
      const outdated = keys.outdated();
      if (outdated.length === 0) return;
      await rehashKeys(database, outdated, peppers.current.version);
      keys.rehashed(outdated);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([admissions.drain(), admissionsWithKeyLock.drain()]);
    },
  };
}

/**
 * Admits a request with a valid key within its rate. Reads its body if the route takes one, and
 * locks its idempotency key if the same statement can. Answers 401 or 429 itself.
 */
export function admit(
  admission: Admission,
  route?: { readonly bodies: BodyReader | undefined; readonly useOf: IdempotencyUseOf | undefined },
): RequestHandler {
  const limit = String(admission.limit);
  const { bodies, useOf } = route ?? {};

  return async (request, response, next) => {
    const context = contextOf(response);
    // Every failure before the key resolves shows the same headers.
    context.rateLimit = { limit, remaining: 0 };
    const key = keyOf(request);
    const decide = async (then: (error?: unknown) => void, use: typeof useOf) => {
      const verdict = await admission.admit(key, use && ((principal) => use(request, response, principal)));
      if (!isAdmitted(admission, response, verdict)) return;
      then();
    };
    if (bodies === undefined || !hasBody(request)) return decide(next, useOf);

    const known = admission.cached(key);
    if (known !== undefined) {
      return bodies.read(request, response, known.apiKeyId, (error) => {
        if (error !== undefined) return next(error);
        decide(next, useOf).catch(next);
      });
    }
    await decide(() => bodies.read(request, response, context.principal?.apiKeyId ?? '', next), undefined);
  };
}

/** Records the principal of an admitted request; answers a request that was refused. */
function isAdmitted(admission: Admission, response: Response, verdict: Verdict): boolean {
  const context = contextOf(response);
  switch (verdict.kind) {
    case 'admitted':
      context.principal = verdict.principal;
      if (context.rateLimit !== undefined) context.rateLimit.remaining = verdict.remaining;
      context.idempotencyLock = verdict.idempotencyLock;
      return true;
    case 'unauthorized':
      sendError(response, 'unauthorized');
      return false;
    case 'limited': {
      context.principal = verdict.principal;
      const { status, body, headers } = tooManyRequests({ ...verdict, limit: admission.limit });
      sendJson(response, status, JSON.stringify(body), headers);
      return false;
    }
  }
}

/**
 * Lets a request with a valid key pass without counting it: the rate limit of API keys applies to
 * `/v1` alone.
 */
export function authenticate(admission: Admission): RequestHandler {
  return async (request, response, next) => {
    const principal = await admission.identify(keyOf(request));
    if (principal === null) return sendError(response, 'unauthorized');
    contextOf(response).principal = principal;
    next();
  };
}

/** The keys of the requests. Each key is listed once, with the number of its requests. */
function wantedKeys(requests: readonly KnownRequest[]): KnownKey[] {
  const wanted = new Map<string, KnownKey & { wanted: number }>();
  for (const { keyHash, key } of requests) {
    const before = wanted.get(keyHash);
    if (before !== undefined) {
      before.wanted += 1;
      continue;
    }
    const { storedHash, pepperVersion } = key;
    const { apiKeyId, programId, environment, windowId } = key.principal;
    wanted.set(keyHash, { keyHash, storedHash, pepperVersion, apiKeyId, programId, environment, windowId, wanted: 1 });
  }
  return [...wanted.values()];
}

function askedKeys(presented: readonly PresentedKey[]): AskedKey[] {
  const asked = new Map<string, PresentedKey & { wanted: number }>();
  for (const key of presented) {
    const before = asked.get(key.keyHash);
    if (before !== undefined) before.wanted += 1;
    else asked.set(key.keyHash, { ...key, wanted: 1 });
  }
  return [...asked.values()];
}

function keyOf(request: Request): string | undefined {
  const header = request.headers['x-api-key'];
  return typeof header === 'string' ? header : undefined;
}
