/**
 * The rate limits of everything but `/v1`, whose requests are counted by their admission. Requests
 * of an authenticated caller are counted in windows of the same kind, exactly over all replicas;
 * those of any other caller by client address, in this process.
 */
import { QueueFullError } from '@laurel/coalesce';
import { HTTP_STATUS } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { hashId } from '@laurel/values/ids';
import type { Request, RequestHandler, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { networkOf } from '../domain/client-network.ts';
import { countRequests, type RateWindow, remainingAt, retryAfterSeconds, WINDOW_MS } from '../domain/rate-window.ts';
import { sendJson, tooManyRequests } from '../http/answer.ts';
import { contextOf } from '../http/context.ts';
import { batchStatement } from '../repository/batched-statement.ts';
import { countInWindows } from '../repository/rate-windows.ts';

export interface CountedWindow {
  /** The position of the request in its window, from 1. */
  readonly position: number;
  readonly endsAt: number;
  readonly now: number;
}

export interface RateWindows extends AsyncDisposable {
  /** Counts one request of a subject: a kind of rate, and the caller. */
  count(...subject: string[]): Promise<CountedWindow>;
}

const DATABASE_DEADLINE_MS = 2_000;
const MAX_CACHED = 10_000;

export function createRateWindows(options: {
  database: Database;
  pepper: Buffer;
  logger: Logger;
  windowMs?: number;
}): RateWindows {
  const { database, logger, windowMs = WINDOW_MS } = options;
  /**
   * The subject is hashed with a key, so that somebody who can only read the database cannot find
   * out whose windows these are.
   */
  const pepper = options.pepper.toString('base64');
  /** The windows that this process counts while the database cannot be reached. */
  const localWindows = new LRUCache<string, RateWindow>({ max: MAX_CACHED });

  const counts = batchStatement<string, CountedWindow>('rate_windows', async (subjects) => {
    const wanted = new Map<string, number>();
    for (const subject of subjects) wanted.set(subject, (wanted.get(subject) ?? 0) + 1);
    const windows = await countInWindows(database, wanted, windowMs);
    const positions = new Map<string, number>();
    return subjects.map((subject) => {
      const window = windows.get(subject);
      if (window === undefined) throw new Error('a counted window has no row');
      const position = (positions.get(subject) ?? window.requests - (wanted.get(subject) ?? 0)) + 1;
      positions.set(subject, position);
      return { position, endsAt: window.endsAt, now: window.now };
    });
  });

  return {
    async count(...parts) {
      const subject = hashId('rate', pepper, ...parts);
      try {
        return await counts.submit(subject, { deadlineAt: Date.now() + DATABASE_DEADLINE_MS });
      } catch (error) {
        if (error instanceof QueueFullError) throw error;
        logger.debug({ err: error }, 'a request counted without the database');
        const now = Date.now();
        const window = countRequests(localWindows.get(subject), now, 1, windowMs);
        localWindows.set(subject, window);
        return { position: window.requests, endsAt: window.startedAt + windowMs, now };
      }
    },
    async [Symbol.asyncDispose]() {
      await counts.drain();
    },
  };
}

/** Lets a request within its rate pass; otherwise answers 429, as `/v1` does. */
export function limitRate(options: {
  readonly windows: RateWindows;
  readonly limit: number;
  readonly subjectOf: (request: Request, response: Response) => readonly string[];
  /**
   * If false, only a refusal has the rate limit headers, so that all other responses stay alike.
   */
  readonly isRateShown?: boolean;
}): RequestHandler {
  const { windows, limit, subjectOf, isRateShown = true } = options;
  return async (request, response, next) => {
    const { position, endsAt, now } = await windows.count(...subjectOf(request, response));
    const remaining = remainingAt(position, limit);
    if (isRateShown || remaining < 0) {
      contextOf(response).rateLimit = { limit: String(limit), remaining: Math.max(0, remaining) };
    }
    if (remaining >= 0) return next();
    sendTooMany(response, limitedUntil(limit, endsAt, now));
  };
}

/**
 * Bounds the cost of calls without a valid credential from one client address. Beyond `limit`
 * failures in a minute, the address's requests get a 429 without a look-up, unless their credential
 * was valid here a moment ago. So the wrong credentials of one caller never shut out another caller
 * behind the same address.
 */
export function limitFailures(options: {
  readonly limit: number;
  readonly addressOf: (request: Request) => string;
}): RequestHandler {
  const { limit, addressOf } = options;
  const failures = new LRUCache<string, RateWindow>({ max: MAX_CACHED });
  const wellKnown = new LRUCache<string, true>({ max: MAX_CACHED, ttl: WINDOW_MS });

  return (request, response, next) => {
    const network = networkOf(addressOf(request));
    const { authorization = '', cookie = '', 'x-api-key': key = '' } = request.headers;
    const credential = hashId('credential', authorization, cookie, String(key));
    const now = Date.now();
    const window = countRequests(failures.get(network), now, 0);
    if (window.requests >= limit && !wellKnown.has(credential)) {
      contextOf(response).rateLimit = { limit: String(limit), remaining: 0 };
      return sendTooMany(response, limitedUntil(limit, window.startedAt + WINDOW_MS, now));
    }
    response.on('close', () => {
      if (contextOf(response).isCallerKnown) wellKnown.set(credential, true);
      else if (response.statusCode === HTTP_STATUS.unauthorized) {
        failures.set(network, countRequests(failures.get(network), Date.now(), 1));
      }
    });
    next();
  };
}

function limitedUntil(limit: number, endsAt: number, now: number) {
  return { limit, retryAfterSeconds: retryAfterSeconds(endsAt, now), resetAt: new Date(endsAt) };
}

/** Sends a 429 in the limiter's shape. */
export function sendTooMany(response: Response, limited: Parameters<typeof tooManyRequests>[0]): void {
  const { status, body, headers } = tooManyRequests(limited);
  sendJson(response, status, JSON.stringify(body), headers);
}
