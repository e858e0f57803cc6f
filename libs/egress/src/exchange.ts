/**
 * One HTTP exchange: a request and its response. It ends once, by the first event that ends it:
 *
 *   sent nothing -> waiting for the head -> reading the body
 *
 * Before the head has arrived, an error or the deadline is a failure. Afterwards the status
 * decides: the end, an error, the deadline or a full buffer all give a result with the part of the
 * body that has arrived. Only a complete response keeps the connection.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { type EgressErrorKind, EgressFailure, failureOf, isInvalidRequest } from './failure.ts';

/**
 * Milliseconds. Null for a phase that was not reached, or not needed: a kept-alive connection, a
 * literal address.
 */
export type EgressTimings = {
  readonly dnsMs: number | null;
  /** The time for TCP and TLS. */
  readonly connectMs: number | null;
  /** The time from the request to the head of its response. */
  readonly waitMs: number | null;
  /** The time from the head to the last byte that was read. */
  readonly readMs: number | null;
};

export type EgressResult =
  | {
      readonly kind: 'answer';
      /** 200 to 999, as received. A redirect is a response like any other. */
      readonly status: number;
      /** Names in lower case. */
      readonly headers: IncomingHttpHeaders;
      /** The bytes as sent: never decompressed, at most `maxBodyBytes`. */
      readonly body: Buffer;
      /** Whether the response had, or may have had, more bytes than `body`. */
      readonly isTruncated: boolean;
      readonly timings: EgressTimings;
    }
  | {
      readonly kind: 'failure';
      readonly error: EgressErrorKind;
      /** A fixed sentence that may be shown to the developer who gave the URL. */
      readonly message: string;
      readonly timings: EgressTimings;
    };

/** An attempt to open one connection. Times are by performance.now(). */
export type ConnectionAttempt = {
  readonly startedAt: number;
  /** A literal address has no name to resolve. */
  readonly isLiteral: boolean;
  resolvedAt: number | null;
};

/** The connection state that the requests of one origin share. */
export type OriginConnections = {
  readonly lastAttempt: ConnectionAttempt | null;
  /** Requests that still wait for a connection. */
  waiting: number;
};

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #route: OriginConnections;
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
  #hasEnded = false;
  readonly #onAbort = () => this.#giveUp('aborted');

  constructor(
    limits: { readonly timeoutMs: number; readonly maxBodyBytes: number; readonly signal?: AbortSignal | undefined },
    route: OriginConnections,
    resolve: (result: EgressResult) => void,
    reject: (error: unknown) => void,
  ) {
    this.#route = route;
    route.waiting += 1;
    this.#maxBodyBytes = limits.maxBodyBytes;
    this.#signal = limits.signal;
    this.#resolve = resolve;
    this.#reject = reject;
    // One timer for all phases: an AbortSignal.timeout for each request costs several times as
    // much.
    this.#timer = setTimeout(() => this.#giveUp('timeout'), limits.timeoutMs);
    this.#signal?.addEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The caller cancelled while it waited for a connection: undici has no other way to withdraw a
    // request.
    if (this.#hasEnded) {
      controller.abort(new EgressFailure('aborted'));
      return;
    }
    this.#controller = controller;
    if (this.#sentAt === null) this.#route.waiting -= 1;
    this.#sentAt = performance.now();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // 1xx responses precede the final one.
    if (status < 200) return;
    this.#headAt = performance.now();
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const bytesLeft = this.#maxBodyBytes - this.#bodyBytes;
    this.#chunks.push(chunk.length > bytesLeft ? chunk.subarray(0, bytesLeft) : chunk);
    this.#bodyBytes += Math.min(chunk.length, bytesLeft);
    if (chunk.length <= bytesLeft) return;
    this.#answer(true);
    this.#disconnect();
  }

  onResponseEnd(): void {
    // undici frees the connection in the next turn of the event loop. A caller that sends again
    // after it reuses the connection.
    this.#answer(false, (result) => queueMicrotask(() => setImmediate(this.#resolve, result)));
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (isInvalidRequest(error)) this.#end(() => this.#reject(new TypeError(error.message)));
    else if (this.#headAt === null) this.#fail(failureOf(error));
    else this.#answer(true);
  }

  #giveUp(kind: 'timeout' | 'aborted'): void {
    if (this.#headAt === null) this.#fail(new EgressFailure(kind));
    else this.#answer(true);
    this.#disconnect();
  }

  /** Closes the connection instead of waiting for the rest of the response. */
  #disconnect(): void {
    this.#controller?.abort(new EgressFailure('aborted'));
  }

  #answer(isTruncated: boolean, resolve = this.#resolve): void {
    this.#end(() => {
      const body = Buffer.concat(this.#chunks, this.#bodyBytes);
      const timings = this.#timings();
      resolve({ kind: 'answer', status: this.#status, headers: this.#headers, body, isTruncated, timings });
    });
  }

  #fail(failure: EgressFailure): void {
    this.#end(() => {
      const timings = this.#timings();
      this.#resolve({ kind: 'failure', error: failure.kind, message: failure.message, timings });
    });
  }

  #end(respond: () => void): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#sentAt === null) this.#route.waiting -= 1;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    respond();
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

  /**
   * How much of the time until `end` it took to connect. Only the last attempt counts, if it began
   * since the start: attempts are made only when needed.
   */
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
