/**
 * Authentication and rate limiting, decided together by one statement per batch of concurrent requests.
 *
 * - Every key, well-formed or not, takes the same way through the database: no cause of a 401 is faster than another by a round trip.
 * - Nothing about a key is cached that could be stale: a revoked key or a suspended program stops at once on every replica, and the
 *   count of a key is exact across them.
 * - A refused key is refused from memory for at most a second, and never beyond its window. Its window can only fill further, so the
 *   answer stays true; a second is what a key that is revoked or raised meanwhile may wait to learn it.
 * - When the database cannot be reached, a key seen in the last 60 s passes on what was known of it, counted in this process alone.
 *   Reads then go on; whatever needs an idempotency record fails with 500. The metric `laurel_admission_fallbacks_total` tells.
 */
import { randomBytes } from 'node:crypto';
import { QueueFullError } from '@laurel/coalesce';
import type { Database } from '@laurel/postgres';
import { Environment, type Tenant } from '@laurel/proto/common';
import type { Logger } from '@laurel/service';
import { counter } from '@laurel/telemetry';
import type { RequestHandler } from 'express';
import { hashKey, isWellFormedKey, type KeyEnvironment } from '../domain/api-key.ts';
import { countRequests, type RateWindow, remainingAt, retryAfterSeconds, WINDOW_MS } from '../domain/rate-window.ts';
import { type AdmissionRow, countAdmissions, readAdmission } from '../repository/admissions.ts';
import { batchStatement } from '../repository/batched-statement.ts';
import { sendError, sendJson } from './answer.ts';
import { contextOf } from './context.ts';

/** Whom a key speaks for. */
export interface Principal {
  readonly keyId: string;
  readonly programId: string;
  readonly environment: KeyEnvironment;
  /** The same, as the services take it. */
  readonly tenant: Tenant;
}

export type Verdict =
  | { readonly kind: 'admitted'; readonly principal: Principal; readonly remaining: number }
  | { readonly kind: 'unauthorized' }
  | {
      readonly kind: 'limited';
      readonly principal: Principal;
      readonly retryAfterSeconds: number;
      readonly resetAt: Date;
    };

export interface Admission extends AsyncDisposable {
  /** Requests per key and minute. */
  readonly limit: number;
  /** Resolves the key and counts one request against it. Rejects when that cannot be known. */
  admit(key: string | undefined): Promise<Verdict>;
  /** Resolves the key without counting: for our own routes. */
  identify(key: string | undefined): Promise<Principal | null>;
}

const UNAUTHORIZED: Verdict = { kind: 'unauthorized' };
const BLOCK_MS = 1_000;
/** A database that takes longer counts as unreachable. */
const DATABASE_DEADLINE_MS = 2_000;
const TRUST_WITHOUT_DATABASE_MS = 60_000;
/** Keys remembered, each some hundred bytes; the oldest go first. */
const MAX_REMEMBERED_KEYS = 10_000;

interface KnownKey {
  principal: Principal;
  /** `performance.now()` of the last answer of the database. */
  seenAt: number;
  /** The window that this process counts while the database cannot. */
  window: RateWindow | undefined;
  blockedUntil: number;
  refusal: Verdict | undefined;
}

export function createAdmission(options: {
  database: Database;
  pepper: Buffer;
  acceptedEnvironments: readonly KeyEnvironment[];
  limit: number;
  logger: Logger;
  windowMs?: number;
}): Admission {
  const { database, pepper, acceptedEnvironments, limit, logger, windowMs = WINDOW_MS } = options;
  const fallbacks = counter(
    'laurel_admission_fallbacks_total',
    'Requests admitted or refused without the database, because it could not be reached.',
    ['outcome'],
  );
  /** What no stored hash equals: it sends malformed keys on the way of the others. */
  const nobody = randomBytes(32).toString('hex');
  const known = new Map<string, KnownKey>();
  /** Hashes of keys that resolved: a pure function, remembered because it costs more than all else here. */
  const hashes = new Map<string, string>();

  const hashOf = (key: string | undefined): string => {
    if (key === undefined) return nobody;
    return hashes.get(key) ?? (isWellFormedKey(key) ? hashKey(pepper, key).toString('hex') : nobody);
  };

  const admissions = batchStatement<string, Verdict>('admission', async (keyHashes) => {
    const wanted = new Map<string, number>();
    for (const keyHash of keyHashes) wanted.set(keyHash, (wanted.get(keyHash) ?? 0) + 1);
    const rows = await countAdmissions(database, wanted, { acceptedEnvironments, windowMs });
    const windows = new Map<string, { row: AdmissionRow; position: number; key: KnownKey }>();
    for (const row of rows) {
      const position = row.requests - (wanted.get(row.keyHash) ?? 0);
      windows.set(row.keyHash, { row, position, key: remember(known, row) });
    }
    return keyHashes.map((keyHash) => {
      const window = windows.get(keyHash);
      if (window === undefined) {
        known.delete(keyHash);
        return UNAUTHORIZED;
      }
      window.position += 1;
      const remaining = remainingAt(window.position, limit);
      const { principal } = window.key;
      return remaining >= 0 ? { kind: 'admitted', principal, remaining } : refuse(window.key, window.row);
    });
  });

  const refuse = (key: KnownKey, { now, windowEndsAt }: AdmissionRow): Verdict => {
    key.refusal ??= {
      kind: 'limited',
      principal: key.principal,
      retryAfterSeconds: retryAfterSeconds(windowEndsAt, now),
      resetAt: new Date(windowEndsAt),
    };
    key.blockedUntil = performance.now() + Math.min(BLOCK_MS, Math.max(0, windowEndsAt - now));
    return key.refusal;
  };

  const admitWithoutDatabase = (keyHash: string, error: unknown): Verdict => {
    const key = known.get(keyHash);
    if (error instanceof QueueFullError || key === undefined) throw error;
    if (performance.now() - key.seenAt > TRUST_WITHOUT_DATABASE_MS) throw error;
    const now = Date.now();
    key.window = countRequests(key.window, now, 1, windowMs);
    const remaining = remainingAt(key.window.requests, limit);
    fallbacks.inc({ outcome: remaining >= 0 ? 'admitted' : 'limited' });
    const { principal } = key;
    if (remaining >= 0) return { kind: 'admitted', principal, remaining };
    const endsAt = key.window.startedAt + windowMs;
    return {
      kind: 'limited',
      principal,
      retryAfterSeconds: retryAfterSeconds(endsAt, now),
      resetAt: new Date(endsAt),
    };
  };

  return {
    limit,
    async admit(key) {
      const keyHash = hashOf(key);
      const before = known.get(keyHash);
      if (before?.refusal !== undefined) {
        if (performance.now() < before.blockedUntil) return before.refusal;
        before.refusal = undefined;
      }
      try {
        const verdict = await admissions.submit(keyHash, { deadlineAt: Date.now() + DATABASE_DEADLINE_MS });
        if (verdict.kind === 'admitted' && key !== undefined && !hashes.has(key)) {
          makeRoom(hashes);
          hashes.set(key, keyHash);
        }
        return verdict;
      } catch (error) {
        logger.debug({ err: error }, 'admission without the database');
        return admitWithoutDatabase(keyHash, error);
      }
    },
    async identify(key) {
      const row = await readAdmission(database, hashOf(key), acceptedEnvironments);
      return row === undefined ? null : principalOf(row);
    },
    [Symbol.asyncDispose]: () => admissions.drain(),
  };
}

/** Lets a request pass that holds a key within its rate; answers 401 or 429 itself. */
export function admit(admission: Admission): RequestHandler {
  const limit = String(admission.limit);
  return async (request, response, next) => {
    const context = contextOf(response);
    // Every failure before the key is known shows the same headers.
    context.rateLimit = { limit, remaining: 0 };
    const header = request.headers['x-api-key'];
    const verdict = await admission.admit(typeof header === 'string' ? header : undefined);
    switch (verdict.kind) {
      case 'admitted':
        context.principal = verdict.principal;
        context.rateLimit.remaining = verdict.remaining;
        return next();
      case 'unauthorized':
        return sendError(response, 'unauthorized');
      case 'limited': {
        context.principal = verdict.principal;
        const body = {
          error: 'Too many requests.',
          retry_after: verdict.retryAfterSeconds,
          limit: admission.limit,
          reset_at: verdict.resetAt.toISOString(),
        };
        return sendJson(response, 429, JSON.stringify(body), { 'Retry-After': String(verdict.retryAfterSeconds) });
      }
    }
  };
}

/** Lets a request pass that holds a key, however often it comes: the rate is a limit of `/v1` alone. */
export function authenticate(admission: Admission): RequestHandler {
  return async (request, response, next) => {
    const header = request.headers['x-api-key'];
    const principal = await admission.identify(typeof header === 'string' ? header : undefined);
    if (principal === null) return sendError(response, 'unauthorized');
    contextOf(response).principal = principal;
    next();
  };
}

function remember(known: Map<string, KnownKey>, row: AdmissionRow): KnownKey {
  const seenAt = performance.now();
  const before = known.get(row.keyHash);
  if (before !== undefined) {
    before.seenAt = seenAt;
    before.window = undefined;
    return before;
  }
  makeRoom(known);
  const key: KnownKey = {
    principal: principalOf(row),
    seenAt,
    window: undefined,
    blockedUntil: 0,
    refusal: undefined,
  };
  known.set(row.keyHash, key);
  return key;
}

function makeRoom(map: Map<string, unknown>): void {
  if (map.size < MAX_REMEMBERED_KEYS) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}

function principalOf(row: Pick<AdmissionRow, 'keyId' | 'programId' | 'environment'>): Principal {
  const environment = row.environment === 'live' ? Environment.LIVE : Environment.TEST;
  return {
    keyId: row.keyId,
    programId: row.programId,
    environment: row.environment,
    tenant: { programId: row.programId, environment },
  };
}
