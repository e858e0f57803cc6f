/**
 * Authentication and rate limiting, decided together by one statement per batch of concurrent requests.
 *
 * - Every key, well-formed or not, takes the same way through the database: no cause of a 401 is faster than another by a round trip.
 * - Nothing about a key is cached that could be stale: a revoked key or a suspended program stops at once on every replica, and the
 *   count of a key is exact across them.
 * - The request of a key that resolved before brings its use of an idempotency key along, and the statement that admits it claims
 *   that: one round trip instead of two. These requests ride apart from the others, who need not wait for the disk.
 * - When the database cannot be reached, keys pass for a while on what is known of them (`key-verdicts.ts`). Reads then go on; whatever
 *   needs an idempotency record fails with 500.
 */
import { QueueFullError } from '@laurel/coalesce';
import { failpoint, LostReplyError } from '@laurel/failpoint';
import type { Database } from '@laurel/postgres';
import type { Clock, Logger } from '@laurel/service';
import type { Request, RequestHandler } from 'express';
import type { KeyEnvironment } from '../domain/api-key.ts';
import { WINDOW_MS } from '../domain/rate-window.ts';
import {
  type Claimant,
  countAdmissions,
  countAdmissionsAndClaim,
  type KnownKey,
  readAdmission,
} from '../repository/admissions.ts';
import { batchStatement } from '../repository/batched-statement.ts';
import type { Claim, KeyUse } from '../repository/idempotency-records.ts';
import { sendError, sendJson, tooManyRequests } from './answer.ts';
import { firstByRecord, firstClaimOf } from './claim-records.ts';
import { contextOf } from './context.ts';
import type { Idempotency } from './idempotency.ts';
import { createKeyMemory, type Principal, principalOf } from './key-memory.ts';
import type { KeyUseOf } from './key-use.ts';
import { countByKey, createKeyVerdicts, type KeyVerdict } from './key-verdicts.ts';

export type { Principal } from './key-memory.ts';

/** An admitted request without a claim has nothing to claim, or is to ask for it by itself. */
export type Verdict = KeyVerdict & { readonly claim?: Claim };

export interface Admission extends AsyncDisposable {
  /** Requests per key and minute. */
  readonly limit: number;
  /**
   * Resolves the key and counts one request against it. Rejects when that cannot be known. `useOf` says what the request would claim; it
   * is asked only when the key resolved before.
   */
  admit(key: string | undefined, useOf?: (principal: Principal) => KeyUse | null): Promise<Verdict>;
  /** Resolves the key without counting: for our own routes. */
  identify(key: string | undefined): Promise<Principal | null>;
  /** A key was revoked here: from now on this process lets it pass on no memory of it, not even without the database. */
  forget(keyHash: string): void;
}

/** Its key resolved before. */
type KnownClaimant = Claimant & { readonly keyHash: string; readonly principal: Principal };

/** A database that takes longer counts as unreachable. */
const DATABASE_DEADLINE_MS = 2_000;

export function createAdmission(options: {
  database: Database;
  idempotency: Pick<Idempotency, 'carryCompletions' | 'release'>;
  pepper: Buffer;
  acceptedEnvironments: readonly KeyEnvironment[];
  limit: number;
  clock: Clock;
  logger: Logger;
  windowMs?: number;
}): Admission {
  const { database, idempotency, acceptedEnvironments, limit, clock, logger, windowMs = WINDOW_MS } = options;
  const counting = { acceptedEnvironments, windowMs, limit };
  const keys = createKeyMemory(options.pepper);
  const verdicts = createKeyVerdicts(keys, counting);

  const admissions = batchStatement<string, Verdict>('admission', async (keyHashes) =>
    verdicts.byCount(keyHashes, await countAdmissions(database, countByKey(keyHashes), counting)),
  );

  const admissionsWithClaim = batchStatement<KnownClaimant, Verdict>('admission_with_claim', async (claimants) => {
    const keyHashes = claimants.map((claimant) => claimant.keyHash);
    const wanted = wantedKeys(claimants);
    const first = firstByRecord(claimants);
    await failpoint('gateway.claim.before-commit');
    const { rows, claimedIds } = await idempotency.carryCompletions((completions) => {
      const claiming = { uses: [...first.values()], completions, now: clock() };
      return countAdmissionsAndClaim(database, wanted, { ...counting, ...claiming });
    });
    await failpoint('gateway.claim.after-commit');
    return verdicts.byCount(keyHashes, rows).map((verdict, index) => {
      const claimant = claimants[index];
      if (claimant === undefined || first.get(claimant.recordId) !== claimant) return verdict;
      return claimedIds.has(claimant.recordId) ? { ...verdict, claim: firstClaimOf(claimant) } : verdict;
    });
  });

  return {
    limit,
    async admit(key, useOf) {
      const keyHash = keys.hashOf(key);
      const refusal = verdicts.byLastRefusal(keyHash);
      if (refusal !== undefined) return refusal;
      const known = keys.recall(keyHash);
      const use = known === undefined || useOf === undefined ? null : useOf(known.principal);
      const deadline = { deadlineAt: Date.now() + DATABASE_DEADLINE_MS };
      try {
        if (use === null || known === undefined) return await admissions.submit(keyHash, deadline);
        const { principal } = known;
        return await admissionsWithClaim.submit({ ...use, keyHash, keyId: principal.keyId, principal }, deadline);
      } catch (error) {
        if (error instanceof QueueFullError) throw error;
        logger.debug({ err: error }, 'admission without the database');
        const verdict = error instanceof LostReplyError ? undefined : verdicts.byMemory(keyHash);
        // The claim may have been committed all the same. Who is admitted asks for it again and finds its own; of others it is released.
        if (use !== null && verdict?.kind !== 'admitted') void idempotency.release(firstClaimOf(use));
        if (verdict === undefined) throw error;
        return verdict;
      }
    },
    async identify(key) {
      const row = await readAdmission(database, keys.hashOf(key), acceptedEnvironments);
      return row === undefined ? null : principalOf(row);
    },
    forget: (keyHash) => keys.revoke(keyHash),
    async [Symbol.asyncDispose]() {
      await Promise.all([admissions.drain(), admissionsWithClaim.drain()]);
    },
  };
}

/**
 * Lets a request pass that holds a key within its rate, and claims what it uses if that can be done along with it; answers 401 or 429
 * itself.
 */
export function admit(admission: Admission, useOf?: KeyUseOf): RequestHandler {
  const limit = String(admission.limit);
  return async (request, response, next) => {
    const context = contextOf(response);
    // Every failure before the key is known shows the same headers.
    context.rateLimit = { limit, remaining: 0 };
    const verdict = await admission.admit(
      keyOf(request),
      useOf && ((principal) => useOf(request, response, principal)),
    );
    switch (verdict.kind) {
      case 'admitted':
        context.principal = verdict.principal;
        context.rateLimit.remaining = verdict.remaining;
        context.claim = verdict.claim;
        return next();
      case 'unauthorized':
        return sendError(response, 'unauthorized');
      case 'limited': {
        context.principal = verdict.principal;
        const { status, body, headers } = tooManyRequests({ ...verdict, limit: admission.limit });
        return sendJson(response, status, JSON.stringify(body), headers);
      }
    }
  };
}

/** Lets a request pass that holds a key, however often it comes: the rate is a limit of `/v1` alone. */
export function authenticate(admission: Admission): RequestHandler {
  return async (request, response, next) => {
    const principal = await admission.identify(keyOf(request));
    if (principal === null) return sendError(response, 'unauthorized');
    contextOf(response).principal = principal;
    next();
  };
}

/** The keys of the claimants, each once, with how often it is asked for. */
function wantedKeys(claimants: readonly KnownClaimant[]): KnownKey[] {
  const wanted = new Map<string, KnownKey & { wanted: number }>();
  for (const { keyHash, principal } of claimants) {
    const key = wanted.get(keyHash);
    if (key !== undefined) key.wanted += 1;
    else {
      const { keyId, programId, environment } = principal;
      wanted.set(keyHash, { keyHash, keyId, programId, environment, wanted: 1 });
    }
  }
  return [...wanted.values()];
}

function keyOf(request: Request): string | undefined {
  const header = request.headers['x-api-key'];
  return typeof header === 'string' ? header : undefined;
}
