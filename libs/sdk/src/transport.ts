/**
 * Sends a call: through the gate, with a time limit for each try and for the whole, and again if
 * the policy says so.
 */
import {
  isReplay,
  limitedForMs,
  type ReceivedAnswer,
  rateLimitOf,
  readBody,
  readFailure,
  requestIdOf,
} from './answer.ts';
import type { ApiAnswer } from './api-promise.ts';
import type { Clock } from './clock.ts';
import { LaurelError } from './errors.ts';
import type { Fetch } from './fetch.ts';
import { type GatePass, type GateReport, RateGate } from './rate-gate.ts';
import { decideRetry, leavesResultUnknown, type RepeatEffect } from './retry-policy.ts';

export interface TransportOptions {
  readonly apiKey: string;
  /** The address without `/v1` and without a final slash. */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly maxRetries: number;
}

/** One call, with the bytes that each of its tries sends. */
export interface ApiRequest {
  readonly method: string;
  /** The path has the query, and begins with `/v1` or `/api`. */
  readonly path: string;
  /** The operation is for messages: `POST /v1/attempts/{attempt_id}/outcome`. */
  readonly operation: string;
  readonly repetition: RepeatEffect;
  /** Set if a success is a 204, which has no body. */
  readonly noContent?: true | undefined;
  readonly body?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Call {
  readonly request: ApiRequest;
  readonly deadline: number;
  tries: number;
  failures: number;
}

export class Transport {
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #gate: RateGate;

  constructor(options: TransportOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#gate = new RateGate(clock);
  }

  /**
   * Resolves with the first successful response; rejects with a `LaurelError`, or with the signal's
   * reason.
   */
  async send<Body>(request: ApiRequest): Promise<ApiAnswer<Body>> {
    const deadline = this.#clock.now() + this.#options.deadlineMs;
    const call: Call = { request, deadline, tries: 0, failures: 0 };
    let last: LaurelError | undefined;
    for (;;) {
      const result = await this.#tryOnce<Body>(call, last);
      if (!(result instanceof LaurelError)) return result;
      last = result;
      await this.#waitAfter(call, last);
    }
  }

  async #tryOnce<Body>(call: Call, last: LaurelError | undefined): Promise<ApiAnswer<Body> | LaurelError> {
    const { request, deadline } = call;
    const pass = await this.#gate.enter(deadline, request.signal);
    if (pass.kind !== 'passed') throw last ?? notSent(request, pass);
    call.tries += 1;
    let report: GateReport = { kind: 'lost' };
    try {
      const answer = await this.#exchange(call);
      if (answer instanceof LaurelError) return answer;
      report = reportOf(answer);
      const body = readBody(answer, request);
      if (body === undefined) return readFailure(answer, request);
      const facts = { requestId: requestIdOf(answer), replayed: isReplay(answer), rateLimit: rateLimitOf(answer) };
      return { data: body.data as Body, ...facts, tries: call.tries };
    } finally {
      pass.leave(report);
    }
  }

  /** One request and its whole response, or the failure to get one. */
  async #exchange({ request, deadline }: Call): Promise<ReceivedAnswer | LaurelError> {
    const { operation, idempotencyKey, signal } = request;
    // The signal may have been aborted after the gate admitted the call.
    signal?.throwIfAborted();
    const timeoutMs = Math.max(0, Math.min(this.#options.timeoutMs, deadline - this.#clock.now()));
    const controller = new AbortController();
    const abort = () => controller.abort();
    const cancelTimeout = this.#clock.schedule(timeoutMs, abort);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await untilAborted(this.#fetchWhole(request, controller.signal), controller.signal);
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      return controller.signal.aborted
        ? new LaurelError('timeout', `${operation}: no answer within ${Math.round(timeoutMs)} ms.`, { idempotencyKey })
        : new LaurelError('network', `${operation}: ${messageOf(cause)}`, { idempotencyKey, cause });
    } finally {
      cancelTimeout();
      signal?.removeEventListener('abort', abort);
    }
  }

  async #fetchWhole(request: ApiRequest, signal: AbortSignal): Promise<ReceivedAnswer> {
    const { method, path, body, idempotencyKey } = request;
    const headers: Record<string, string> = { accept: 'application/json', 'x-api-key': this.#options.apiKey };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    const url = this.#options.baseUrl + path;
    const sent = { method, headers, signal, redirect: 'manual', ...(body !== undefined && { body }) } as const;
    const response = await this.#options.fetch(url, sent);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /**
   * Throws the failure if it ends the call; else resolves when the next try may queue at the gate.
   */
  async #waitAfter(call: Call, error: LaurelError): Promise<void> {
    const { request, deadline } = call;
    if (leavesResultUnknown(error)) call.failures += 1;
    const decision = decideRetry({
      error,
      repetition: request.repetition,
      failures: call.failures,
      maxRetries: this.#options.maxRetries,
      chance: this.#clock.random(),
    });
    if (decision.kind === 'gate') return;
    if (decision.kind === 'end' || this.#clock.now() + decision.delayMs >= deadline) throw error;
    await this.#delay(decision.delayMs, request.signal);
  }

  #delay(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    let cancel = () => {};
    const over = new Promise<void>((resolve) => {
      cancel = this.#clock.schedule(delayMs, resolve);
    });
    return signal === undefined ? over : untilAborted(over, signal).finally(cancel);
  }
}

function notSent({ operation, idempotencyKey }: ApiRequest, pass: Exclude<GatePass, { kind: 'passed' }>): LaurelError {
  if (pass.kind === 'late') {
    return new LaurelError('timeout', `${operation}: not sent before its deadline.`, { idempotencyKey });
  }
  const { retryAfterMs } = pass;
  return new LaurelError('rate_limited', `${operation}: not sent, too many requests.`, {
    idempotencyKey,
    retryAfterMs,
  });
}

function reportOf(answer: ReceivedAnswer): GateReport {
  if (answer.status === 429) return { kind: 'limited', retryAfterMs: limitedForMs(answer) };
  const remaining = rateLimitOf(answer)?.remaining;
  if (remaining !== undefined) return { kind: 'counted', remaining };
  return answer.status < 300 ? { kind: 'uncounted' } : { kind: 'lost' };
}

/**
 * Resolves with the result of the work. If the signal is aborted first, rejects with its reason,
 * even if the work ignores the signal.
 */
function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
