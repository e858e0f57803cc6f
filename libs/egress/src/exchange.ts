/**
 * One request and what comes back. It is settled once, by whatever comes first:
 *
 *   sent nothing -> waiting for the head -> reading the body
 *
 * Until the head is there, an error or the deadline is a failure. From then on the status decides: an end, an error, the deadline or a full
 * buffer all make an answer, with as much of the body as came. The connection is kept only after a whole answer.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { type EgressErrorKind, EgressFailure, failureOf, isCallersFault } from './failure.ts';

/** Milliseconds. Null for a phase that was not reached, or that a kept-alive connection or a literal address did not need. */
export type EgressTimings = {
  readonly dnsMs: number | null;
  /** TCP and TLS. */
  readonly connectMs: number | null;
  /** From the request to the head of its answer. */
  readonly waitMs: number | null;
  /** From the head to the last byte that was read. */
  readonly readMs: number | null;
};

export type EgressResult =
  | {
      readonly kind: 'answer';
      /** 200 to 999, as it came. Redirects are answers like all others. */
      readonly status: number;
      /** Names in lower case. */
      readonly headers: IncomingHttpHeaders;
      /** As it was sent: never inflated, and not more than `maxBodyBytes`. */
      readonly body: Buffer;
      /** Whether there was, or may have been, more than `body`. */
      readonly isTruncated: boolean;
      readonly timings: EgressTimings;
    }
  | {
      readonly kind: 'failure';
      readonly error: EgressErrorKind;
      /** A fixed sentence that may be shown to whoever chose the address. */
      readonly message: string;
      readonly timings: EgressTimings;
    };

/** The making of one connection. Times are by performance.now(). */
export type ConnectionAttempt = {
  readonly startedAt: number;
  /** A literal address has no name to resolve. */
  readonly isLiteral: boolean;
  resolvedAt: number | null;
};

/** Where the requests of one origin go. */
export type Route = {
  readonly lastAttempt: ConnectionAttempt | null;
  /** Requests that still wait for a connection. */
  waiting: number;
};

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #route: Route;
  readonly #maxBodyBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (result: EgressResult) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #sentAt: number | null = null;
  #headAt: number | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #chunks: Buffer[] = [];
  #bodyBytes = 0;
  #isSettled = false;
  readonly #onAbort = () => this.#giveUp('aborted');

  constructor(
    limits: { readonly timeoutMs: number; readonly maxBodyBytes: number; readonly signal?: AbortSignal | undefined },
    route: Route,
    resolve: (result: EgressResult) => void,
    reject: (error: unknown) => void,
  ) {
    this.#route = route;
    route.waiting += 1;
    this.#maxBodyBytes = limits.maxBodyBytes;
    this.#signal = limits.signal;
    this.#resolve = resolve;
    this.#reject = reject;
    // One timer for all phases. An AbortSignal.timeout for each request costs several times as much.
    this.#timer = setTimeout(() => this.#giveUp('timeout'), limits.timeoutMs);
    this.#signal?.addEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited for a connection: undici has no other way to take it back.
    if (this.#isSettled) {
      controller.abort(new EgressFailure('aborted'));
      return;
    }
    this.#controller = controller;
    if (this.#sentAt === null) this.#route.waiting -= 1;
    this.#sentAt = performance.now();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // The 1xx come before the answer.
    if (status < 200) return;
    this.#headAt = performance.now();
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = this.#maxBodyBytes - this.#bodyBytes;
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.#bodyBytes += Math.min(chunk.length, room);
    if (chunk.length <= room) return;
    this.#answer(true);
    this.#disconnect();
  }

  onResponseEnd(): void {
    // undici takes the connection back in the next turn. Whoever then sends again finds it free, and needs no second one.
    this.#answer(false, (result) => queueMicrotask(() => setImmediate(this.#resolve, result)));
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (isCallersFault(error)) this.#settle(() => this.#reject(new TypeError(error.message)));
    else if (this.#headAt === null) this.#fail(failureOf(error));
    else this.#answer(true);
  }

  #giveUp(kind: 'timeout' | 'aborted'): void {
    if (this.#headAt === null) this.#fail(new EgressFailure(kind));
    else this.#answer(true);
    this.#disconnect();
  }

  /** The rest is never waited for. */
  #disconnect(): void {
    this.#controller?.abort(new EgressFailure('aborted'));
  }

  #answer(isTruncated: boolean, resolve = this.#resolve): void {
    this.#settle(() => {
      const body = Buffer.concat(this.#chunks, this.#bodyBytes);
      const timings = this.#timings();
      resolve({ kind: 'answer', status: this.#status, headers: this.#headers, body, isTruncated, timings });
    });
  }

  #fail(failure: EgressFailure): void {
    this.#settle(() => {
      const timings = this.#timings();
      this.#resolve({ kind: 'failure', error: failure.kind, message: failure.message, timings });
    });
  }

  #settle(settle: () => void): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#sentAt === null) this.#route.waiting -= 1;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    settle();
  }

  #timings(): EgressTimings {
    const now = performance.now();
    const [sentAt, headAt] = [this.#sentAt, this.#headAt];
    const { dnsMs, connectMs, connectedAt } = this.#connecting(sentAt ?? now);
    return {
      dnsMs,
      connectMs,
      waitMs: sentAt === null ? null : (headAt ?? now) - connectedAt,
      readMs: headAt === null ? null : now - headAt,
    };
  }

  /** What of the time until `end` went into a connection: the last one that was begun since, because without need none is. */
  #connecting(end: number): { dnsMs: number | null; connectMs: number | null; connectedAt: number } {
    const [start, attempt] = [this.#startedAt, this.#route.lastAttempt];
    if (attempt === null || attempt.startedAt < start || attempt.startedAt > end) {
      return { dnsMs: null, connectMs: null, connectedAt: start };
    }
    if (attempt.isLiteral) return { dnsMs: null, connectMs: end - start, connectedAt: end };
    if (attempt.resolvedAt === null || attempt.resolvedAt > end) {
      return { dnsMs: end - start, connectMs: null, connectedAt: end };
    }
    return { dnsMs: attempt.resolvedAt - start, connectMs: end - attempt.resolvedAt, connectedAt: end };
  }
}
