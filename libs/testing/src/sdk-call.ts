import { deepStrictEqual } from 'node:assert';
import { type ApiPromise, type FetchRequest, type FetchResponse, Laurel, LaurelError } from '@laurel/sdk';
import type { Answer, HttpClient } from './http-client.ts';

/** The request that a call of the SDK sent, and the response. */
interface Exchange {
  readonly path: string;
  readonly request: FetchRequest;
  readonly answer: Promise<Answer<unknown>>;
}

/**
 * A placeholder, because the SDK needs one address; the HTTP client under it chooses among its own
 * addresses.
 */
const ORIGIN = 'http://laurel.localhost';
/** The SDK's maximum, because the HTTP client under it limits the time instead. */
const NO_TIMEOUT_MS = 12 * 3_600_000;

/**
 * Makes one call through the SDK, and returns the response as received. Throws if the SDK's result
 * or error disagrees with the response.
 *
 * Every call has its own SDK client, without retries. The rate gate of a shared client would hold
 * back requests that a test sends at once; a retry would hide all responses except the last.
 */
export async function callSdk<Body>(
  http: HttpClient,
  apiKey: string,
  call: (laurel: Laurel) => ApiPromise<Body>,
): Promise<Answer<Body>> {
  const exchanges: Exchange[] = [];
  const laurel = new Laurel({
    apiKey,
    baseUrl: ORIGIN,
    timeoutMs: NO_TIMEOUT_MS,
    deadlineMs: NO_TIMEOUT_MS,
    maxRetries: 0,
    fetch: async (url, request) => {
      const { method, headers, body } = request;
      const path = url.slice(ORIGIN.length);
      const answer = http.send(method, path, { headers, ...(body !== undefined && { raw: body }) });
      exchanges.push({ path, request, answer });
      return toResponse(await answer);
    },
  });
  const [result] = await Promise.allSettled([call(laurel).withResponse()]);
  const [exchange, ...repetitions] = exchanges;
  if (exchange === undefined) {
    throw result.status === 'rejected' ? result.reason : new Error('the SDK resolved a call without sending it');
  }
  // If the test's own check of the response threw, this rejects with that error, which the SDK has
  // turned into a network failure.
  const answer = await exchange.answer;
  const { path, request } = exchange;
  const where = `${request.method} ${path} was answered ${answer.status} ${answer.text.slice(0, 500)}`;
  if (repetitions.length > 0) throw new Error(`the SDK repeated a call in spite of maxRetries 0: ${where}`);
  if (result.status === 'rejected' && !(result.reason instanceof LaurelError)) throw result.reason;
  const actual = result.status === 'fulfilled' ? { ...result.value } : factsOf(result.reason);
  const isSuccess = answer.status >= 200 && answer.status < 300;
  expectAgreement(actual, isSuccess ? successOf(answer) : failureOf(request, answer), where);
  return answer as Answer<Body>;
}

function toResponse({ status, headers, text }: Answer<unknown>): FetchResponse {
  if (status === 0) throw new Error('the connection ended without an answer');
  return { status, headers: { get: (name) => headers[name] ?? null }, text: () => Promise.resolve(text) };
}

function expectAgreement(actual: object, expected: object, where: string): void {
  try {
    deepStrictEqual(actual, expected);
  } catch (error) {
    throw new Error(`the SDK disagrees with what it received: ${where}\n${(error as Error).message}`);
  }
}

/** Returns the value with which the SDK must resolve. */
function successOf({ headers, body }: Answer<unknown>): object {
  const limit = headers['x-ratelimit-limit'];
  return {
    data: body,
    requestId: headers['x-request-id'],
    replayed: headers['idempotency-replayed'] === 'true',
    rateLimit:
      limit === undefined ? undefined : { limit: Number(limit), remaining: Number(headers['x-ratelimit-remaining']) },
    tries: 1,
  };
}

/** Returns the fields of the error with which the SDK must reject. */
function failureOf(request: FetchRequest, { status, headers, body, code }: Answer<unknown>): object {
  const { error, retry_after } = (body ?? {}) as { error?: { details?: object }; retry_after?: number };
  const seconds = headers['retry-after'] ?? (status === 429 ? retry_after : undefined);
  return {
    code: status === 429 ? 'rate_limited' : (code ?? 'network'),
    status: status === 0 ? undefined : status,
    requestId: headers['x-request-id'],
    idempotencyKey: request.headers['idempotency-key'],
    retryAfterMs: seconds === undefined ? undefined : Number(seconds) * 1_000,
    details: error?.details,
  };
}

function factsOf({ code, status, requestId, idempotencyKey, retryAfterMs, details }: LaurelError): object {
  return { code, status, requestId, idempotencyKey, retryAfterMs, details };
}
