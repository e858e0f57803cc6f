/**
 * The caller's end of the exchange: unary calls over one open stream.
 *
 * The stream opens at the first call. After some time, or when the server asks for it, new calls go over a new stream, which the channel
 * gives to the next replica; the old one ends when its last answer is in. When a stream breaks, its calls fail as calls of a broken
 * connection do, and the next call opens another.
 */
import { type Client, type ClientDuplexStream, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { Refused } from '@laurel/errors';
import {
  type Answer,
  type ExchangeRequest,
  type ExchangeResponse,
  ExchangeServiceService,
  type Call as WireCall,
} from '@laurel/proto/wire';
import type { UnaryMethod } from './definition.ts';
import { callFailedError, refusalOf, serviceError } from './error-mapping.ts';
import { createFrameWriter, type FrameWriter } from './frame-writer.ts';
import { MAX_EXCHANGED_BYTES } from './wire.ts';

const { exchange } = ExchangeServiceService;

export type OutgoingCall = {
  readonly method: UnaryMethod;
  readonly request: unknown;
  readonly deadlineAt: number;
  readonly signal: AbortSignal | undefined;
  /** The span that the call belongs to; empty outside of traces. */
  readonly traceparent: string;
};

export type Exchange = {
  /** Ends as a unary call does: with the response, a refusal, or a CallFailedError. */
  call(call: OutgoingCall): Promise<unknown>;
  /** Calls under way still end. */
  close(): void;
};

export function createExchange(channel: Client, { renewAfterMs }: { renewAfterMs: number }): Exchange {
  let current: ExchangeStream | undefined;

  const streamOfNewCalls = (): ExchangeStream => {
    if (current?.takesCalls && performance.now() - current.openedAt < renewAfterMs) return current;
    current?.retire();
    current = new ExchangeStream(channel);
    return current;
  };

  return {
    call: (call) =>
      new Promise((resolve, reject) => {
        const failNow = (code: status, details: string) =>
          reject(callFailedError(call.method.path, serviceError({ code, details, metadata: new Metadata() })));
        if (call.signal?.aborted) return failNow(status.CANCELLED, 'the caller gave up');
        if (call.deadlineAt <= Date.now()) return failNow(status.DEADLINE_EXCEEDED, 'the deadline had passed');
        const request = encoded(call);
        if (request === null) return failNow(status.INTERNAL, 'the request could not be encoded');
        if (request.length > MAX_EXCHANGED_BYTES) return failNow(status.RESOURCE_EXHAUSTED, 'the request is too large');
        return streamOfNewCalls().send(request, { ...call, resolve, reject });
      }),
    close() {
      current?.retire();
      current = undefined;
    },
  };
}

function encoded({ method, request }: OutgoingCall): Buffer | null {
  try {
    return method.requestSerialize(request);
  } catch {
    return null;
  }
}

type PendingCall = OutgoingCall & {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  onAbort?: () => void;
};

type Outgoing = { readonly call: WireCall } | { readonly cancelledCallId: number };

class ExchangeStream {
  readonly openedAt = performance.now();
  takesCalls = true;
  readonly #stream: ClientDuplexStream<ExchangeRequest, ExchangeResponse>;
  readonly #outgoing: FrameWriter<Outgoing>;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;
  #deadlineTimer: NodeJS.Timeout | undefined;
  #deadlineTimerAt = Number.POSITIVE_INFINITY;

  constructor(channel: Client) {
    this.#stream = channel.makeBidiStreamRequest(
      exchange.path,
      exchange.requestSerialize,
      exchange.responseDeserialize,
      new Metadata(),
      {},
    );
    this.#outgoing = createFrameWriter<Outgoing>({
      sizeOf: (item) => ('call' in item ? item.call.request.length : 0),
      write: (items, onWritten) => this.#stream.write(requestOf(items), onWritten),
    });
    this.#stream.on('data', (response: ExchangeResponse) => this.#receive(response));
    this.#stream.on('error', (error: ServiceError) => this.#onEnd(error));
    this.#stream.on('end', () => this.#onEnd(undefined));
  }

  send(request: Buffer, call: PendingCall): void {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#pending.set(id, call);
    const { method, traceparent } = call;
    this.#outgoing.push({ call: { id, path: method.path, request, traceparent } });
    this.#watchDeadline(call.deadlineAt);
    if (call.signal !== undefined) {
      call.onAbort = () => this.#abandon(id, status.CANCELLED, 'the caller gave up');
      call.signal.addEventListener('abort', call.onAbort, { once: true });
    }
  }

  /** Takes no new calls, and ends once those under way have ended. */
  retire(): void {
    this.takesCalls = false;
    this.#endWhenIdle();
  }

  #receive({ answers, goingAway }: ExchangeResponse): void {
    for (const { id, result } of answers) {
      const call = this.#take(id);
      if (call !== undefined) settle(call, result);
    }
    if (goingAway) this.takesCalls = false;
    this.#endWhenIdle();
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#pending.get(id);
    if (call === undefined) return undefined;
    this.#pending.delete(id);
    if (call.onAbort !== undefined) call.signal?.removeEventListener('abort', call.onAbort);
    return call;
  }

  /** Nobody waits for the call any more; the server is told. */
  #abandon(id: number, code: status, details: string): void {
    const call = this.#take(id);
    if (call === undefined) return;
    fail(call, code, details, new Metadata());
    this.#outgoing.push({ cancelledCallId: id });
    this.#endWhenIdle();
  }

  #endWhenIdle(): void {
    if (this.takesCalls || this.#pending.size > 0 || this.#stream.writableEnded) return;
    this.#outgoing.flush();
    this.#stream.end();
  }

  /** Whatever ended the stream, its calls met a broken connection; unless the server has no exchange, and so ran none of them. */
  #onEnd(error: ServiceError | undefined): void {
    this.takesCalls = false;
    this.#outgoing.stop();
    clearTimeout(this.#deadlineTimer);
    const code = error?.code === status.UNIMPLEMENTED ? status.UNIMPLEMENTED : status.UNAVAILABLE;
    for (const id of [...this.#pending.keys()]) {
      const call = this.#take(id);
      if (call !== undefined) fail(call, code, error?.details ?? 'the stream ended', new Metadata());
    }
  }

  /** One timer, for the call that is due first. In the steady run it is set again once a deadline, not once a call. */
  #watchDeadline(deadlineAt: number): void {
    if (deadlineAt >= this.#deadlineTimerAt) return;
    clearTimeout(this.#deadlineTimer);
    this.#deadlineTimerAt = deadlineAt;
    this.#deadlineTimer = setTimeout(() => this.#expire(), Math.max(0, deadlineAt - Date.now()));
  }

  #expire(): void {
    this.#deadlineTimerAt = Number.POSITIVE_INFINITY;
    const now = Date.now();
    let nextAt = Number.POSITIVE_INFINITY;
    for (const [id, { deadlineAt }] of [...this.#pending]) {
      if (deadlineAt <= now) this.#abandon(id, status.DEADLINE_EXCEEDED, 'the deadline passed');
      else nextAt = Math.min(nextAt, deadlineAt);
    }
    if (nextAt < Number.POSITIVE_INFINITY) this.#watchDeadline(nextAt);
  }
}

function requestOf(items: readonly Outgoing[]): ExchangeRequest {
  const request: ExchangeRequest = { calls: [], cancelledCallIds: [] };
  for (const item of items) {
    if ('call' in item) request.calls.push(item.call);
    else request.cancelledCallIds.push(item.cancelledCallId);
  }
  return request;
}

function settle(call: PendingCall, result: Answer['result']): void {
  if (result?.$case === 'response') {
    const response = decoded(call.method, result.value);
    if (response === null) fail(call, status.INTERNAL, 'the response could not be decoded', new Metadata());
    else call.resolve(response);
  } else if (result?.$case === 'failure') {
    const { code, details, trailers } = result.value;
    const metadata = metadataOf(trailers);
    if (metadata === null) fail(call, status.INTERNAL, 'the trailers could not be read', new Metadata());
    else fail(call, code, details, metadata);
  } else {
    fail(call, status.INTERNAL, 'the answer was empty', new Metadata());
  }
}

function decoded(method: UnaryMethod, bytes: Buffer): unknown {
  try {
    return method.responseDeserialize(bytes);
  } catch {
    return null;
  }
}

/** Null for what gRPC takes for no trailers. */
function metadataOf(trailers: { readonly [key: string]: string }): Metadata | null {
  const metadata = new Metadata();
  try {
    for (const [key, value] of Object.entries(trailers)) metadata.set(key, value);
    return metadata;
  } catch {
    return null;
  }
}

function fail(call: PendingCall, code: status, details: string, metadata: Metadata): void {
  const error = serviceError({ code, details, metadata });
  const refusal: Refused | null = refusalOf(error);
  if (refusal !== null) call.resolve(refusal);
  else call.reject(callFailedError(call.method.path, error));
}
