/** Reads the response to a request: the body with its headers, or a failure. */
import { isApiCode, LaurelError, type LaurelErrorCode } from './errors.ts';
import type { FetchResponse } from './fetch.ts';

export interface ReceivedAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: FetchResponse['headers'];
}

/** The names of a request that the message and the facts of its failure show. */
export interface RequestNames {
  /** `POST /v1/attempts`: contains no value from the caller. */
  readonly operation: string;
  readonly idempotencyKey?: string | undefined;
}

const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** The time to wait after a 429 that names none, which only an intermediary sends. */
const DEFAULT_RETRY_AFTER_MS = 1_000;

/** The parsed body of a 2xx, an object; undefined if something other than Laurel responded. */
export function readBody(
  { status, text }: ReceivedAnswer,
  { noContent }: { readonly noContent?: true | undefined },
): { readonly data: unknown } | undefined {
  if (status < 200 || status > 299) return undefined;
  if (noContent === true) return status === 204 ? { data: undefined } : undefined;
  const data = parse(text);
  return typeof data !== 'object' || data === null || Array.isArray(data) ? undefined : { data };
}

/** The failure for a response that `readBody` does not accept. */
export function readFailure(answer: ReceivedAnswer, { operation, idempotencyKey }: RequestNames): LaurelError {
  const { status } = answer;
  const body = parse(answer.text);
  const requestId = requestIdOf(answer);
  const facts = { status, requestId, idempotencyKey, retryAfterMs: retryAfterOf(answer) };
  if (status === 429) {
    const message = `${operation}: too many requests in this minute.`;
    return new LaurelError('rate_limited', message, { ...facts, retryAfterMs: limitedForMs(answer) });
  }
  const envelope = envelopeOf(status, body);
  if (envelope === undefined) {
    const message = `${operation}: an answer with status ${status} that is not of the API; is baseUrl right, and what is in between?`;
    return new LaurelError('network', message, facts);
  }
  const { code, message, details } = envelope;
  return new LaurelError(code, `${operation}: ${code}: ${message}`, { ...facts, apiMessage: message, details });
}

export function requestIdOf({ headers }: ReceivedAnswer): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

export function isReplay({ headers }: ReceivedAnswer): boolean {
  return headers.get('idempotency-replayed') === 'true';
}

export function rateLimitOf({ headers }: ReceivedAnswer): { limit: number; remaining: number } | undefined {
  const limit = wholeNumber(headers.get('x-ratelimit-limit'));
  const remaining = wholeNumber(headers.get('x-ratelimit-remaining'));
  return limit === undefined || remaining === undefined ? undefined : { limit, remaining };
}

/**
 * Milliseconds from the header, which is in seconds, or else from the body of a 429. Ignores dates,
 * which only an intermediary sends. At most an hour: the API's minute is over long before, and a
 * timer beyond 24 days fires at once.
 */
function retryAfterOf({ headers, text }: ReceivedAnswer): number | undefined {
  const seconds = wholeNumber(headers.get('retry-after')) ?? wholeNumber(field(parse(text), 'retry_after'));
  return seconds === undefined ? undefined : Math.min(seconds * 1_000, LONGEST_RETRY_AFTER_MS);
}

/** Returns how long a 429 limits its caller. */
export function limitedForMs(answer: ReceivedAnswer): number {
  return retryAfterOf(answer) ?? DEFAULT_RETRY_AFTER_MS;
}

function envelopeOf(
  status: number,
  body: unknown,
): { code: LaurelErrorCode; message: string; details: Record<string, unknown> | undefined } | undefined {
  const error = field(body, 'error');
  const code = field(error, 'code');
  if (!isApiCode(status, code)) return undefined;
  const details = field(error, 'details');
  return {
    code,
    message: String(field(error, 'message')),
    details: typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : undefined,
  };
}

function wholeNumber(value: unknown): number | undefined {
  const text = String(value ?? '');
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
