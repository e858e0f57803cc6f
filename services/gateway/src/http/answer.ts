/**
 * Sends every response with a body: one envelope, one table from code to status, one set of
 * headers.
 */
import { pipeline } from 'node:stream/promises';
import { type ApiErrorCode, DEFAULT_MESSAGE, HTTP_STATUS, type Refused } from '@laurel/errors';
import type { Response } from 'express';
import { LIMIT_HEADER, REMAINING_HEADER, RETRY_AFTER_HEADER } from '../domain/rate-limit-headers.ts';
import { REPLAY_HEADER } from '../domain/replay-header.ts';
import { contextOf } from './context.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** How long a caller should wait before it asks again for an operation that is in flight. */
const IN_PROGRESS_RETRY_SECONDS = '1';

/** Sends JSON text unchanged. Header names are set in one call: that is Node's fast path. */
export function sendJson(
  response: Response,
  status: number,
  body: string,
  extra?: Readonly<Record<string, string>>,
): void {
  const headers = headersOf(response, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body) });
  const context = contextOf(response);
  context.responseBody = body;
  if (extra !== undefined) {
    Object.assign(headers, extra);
    context.isReplayed = REPLAY_HEADER in extra;
  }
  response.writeHead(status, headers).end(body);
}

/** Sends a response without a body. */
export function sendEmpty(response: Response, status: number, extra?: Readonly<Record<string, string>>): void {
  response.writeHead(status, { ...headersOf(response, {}), ...extra }).end();
}

/**
 * Sends JSON text piece by piece, no faster than the caller reads it, so that its length does not
 * matter. If the caller disconnects, the iteration ends. If a piece fails, the promise rejects and
 * the connection ends, so that half a response can never pass for a whole one.
 */
export async function sendJsonPieces(response: Response, status: number, pieces: AsyncIterable<string>): Promise<void> {
  response.writeHead(status, headersOf(response, { 'Content-Type': JSON_TYPE }));
  try {
    await pipeline(pieces, response);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** The headers, completed by those that every response has. */
function headersOf(response: Response, headers: Record<string, string | number>): Record<string, string | number> {
  Object.assign(headers, SECURITY_HEADERS);
  const context = contextOf(response);
  headers['X-Request-Id'] = context.requestId;
  const { rateLimit } = context;
  if (rateLimit !== undefined) {
    headers[LIMIT_HEADER] = rateLimit.limit;
    headers[REMAINING_HEADER] = rateLimit.remaining;
  }
  return headers;
}

/**
 * The limiter's response, which is not the envelope (docs/contract/partner-api.md, "Rate limit").
 */
export function tooManyRequests(limited: {
  readonly limit: number;
  readonly retryAfterSeconds: number;
  readonly resetAt: Date;
}): { readonly status: 429; readonly body: object; readonly headers: Readonly<Record<string, string>> } {
  const { limit, retryAfterSeconds, resetAt } = limited;
  return {
    status: 429,
    body: { error: 'Too many requests.', retry_after: retryAfterSeconds, limit, reset_at: resetAt.toISOString() },
    headers: { [RETRY_AFTER_HEADER]: String(retryAfterSeconds) },
  };
}

/** The envelope of every failure except 429 and the retired route. */
export function sendError(
  response: Response,
  code: ApiErrorCode,
  message: string = DEFAULT_MESSAGE[code],
  details?: object,
): void {
  contextOf(response).errorCode = code;
  const body = JSON.stringify({ error: { code, message, details } });
  const extra = code === 'idempotency_in_progress' ? { [RETRY_AFTER_HEADER]: IN_PROGRESS_RETRY_SECONDS } : undefined;
  sendJson(response, HTTP_STATUS[code], body, extra);
}

export function sendRefusal(response: Response, refusal: Refused): void {
  sendError(response, refusal.code, refusal.message);
}
