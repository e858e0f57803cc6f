/**
 * The caller's end of the call multiplexer: many unary calls over one open gRPC stream. Decision 10
 * has the reasons, and how to remove it.
 *
 * States of a stream
 * open       accepts new calls. It opens at the first call; each client has one.
 * retiring   accepts no new calls: it is too old, the server asks for it (`going_away`), or the
 *            client closes. The client half-closes it after its last call, and the server then ends
 *            it.
 * ended      it broke, or the server has ended it. Its pending calls have failed.
 *
 * States of a call
 * pending -> ended, once: by its result (a response, a refusal, a failure), its deadline, its
 * signal, or the end of its stream. When a caller gives up, the client cancels the call at the
 * server and never uses its id again. It ignores a result for an id that is not pending.
 *
 * Limits
 * streams       one open, and the retiring ones, each of which ends within the longest deadline of
 *               its calls.
 * renewAfterMs  the age at which a stream retires, so that new calls reach the next replica.
 * calls         the multiplexer holds none back; coalescers do (`lanes` batches of a call).
 * size          MAX_MULTIPLEXED_BYTES a request or response: a larger one fails its call with
 *               RESOURCE_EXHAUSTED, and the others go on.
 * deadlines     every call has one.
 * ids           MAX_CALL_ID a stream, which retires after the last.
 *
 * Invariants
 * An id belongs to one call of its stream. Each call ends exactly once. A stream that breaks fails
 * its calls like a broken connection. If the server has no multiplexer they fail with
 * UNIMPLEMENTED, because none ran. This file never sends a call twice: only its caller knows
 * whether that is safe (`retryLostReply`).
 *
 * Its name on the wire is `laurel.wire.v1.ExchangeService`. The name stays: services are deployed
 * one by one, and without it a new server would fail every hot call of an older client. To change
 * it, serve both names for a release, and let clients move in the next.
 */
import { type Client, type ClientDuplexStream, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import {
  type ExchangeRequest,
  type ExchangeResponse,
  ExchangeServiceService,
  type Call as WireCall,
} from '@laurel/proto/wire';
import { createFrameWriter, type FrameWriter } from './frame-writer.ts';
import { beginCall, endCall, failCall, type OutgoingCall, type PendingCall } from './pending-call.ts';
import { MAX_CALL_ID } from './wire.ts';

const { exchange } = ExchangeServiceService;

export type CallMultiplexer = {
  /** Ends like a unary call: with the response, a refusal, or a CallFailedError. */
  call(call: OutgoingCall): Promise<unknown>;
  /** Closes the multiplexer. Calls under way still end. */
  close(): void;
};

export function createCallMultiplexer(channel: Client, { renewAfterMs }: { renewAfterMs: number }): CallMultiplexer {
  let current: MultiplexedStream | undefined;

  const streamOfNewCalls = (): MultiplexedStream => {
    if (current?.takesCalls && performance.now() - current.openedAt < renewAfterMs) return current;
    current?.retire();
    current = new MultiplexedStream(channel);
    return current;
  };

  return {
    call: (call) =>
      new Promise((resolve, reject) => {
        const pending = { ...call, resolve, reject };
        const request = beginCall(pending);
        if (request !== null) streamOfNewCalls().send(request, pending);
      }),
    close() {
      current?.retire();
      current = undefined;
    },
  };
}

type MultiplexedCall = PendingCall & { onAbort?: () => void };

type Outgoing = { readonly call: WireCall } | { readonly cancelledCallId: number };

export class MultiplexedStream {
  readonly openedAt = performance.now();
  readonly #stream: ClientDuplexStream<ExchangeRequest, ExchangeResponse>;
  readonly #outgoing: FrameWriter<Outgoing>;
  readonly #pending = new Map<number, MultiplexedCall>();
  #state: 'open' | 'retiring' | 'ended' = 'open';
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

  get takesCalls(): boolean {
    return this.#state === 'open' && this.#lastId < MAX_CALL_ID;
  }

  /** Throws if the stream accepts no calls. */
  send(request: Buffer, call: MultiplexedCall): void {
    if (!this.takesCalls) throw new Error(`a stream that is ${this.#state} takes no call ${this.#lastId + 1}`);
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

  /** Accepts no new calls, and ends once those under way have ended. */
  retire(): void {
    if (this.#state === 'open') this.#state = 'retiring';
    this.#endWhenIdle();
  }

  #receive({ answers, goingAway }: ExchangeResponse): void {
    for (const { id, result } of answers) {
      const call = this.#take(id);
      if (call !== undefined) endCall(call, result);
    }
    if (goingAway) this.retire();
    else this.#endWhenIdle();
  }

  #take(id: number): MultiplexedCall | undefined {
    const call = this.#pending.get(id);
    if (call === undefined) return undefined;
    this.#pending.delete(id);
    if (call.onAbort !== undefined) call.signal?.removeEventListener('abort', call.onAbort);
    return call;
  }

  /** The caller has given the call up; the server is notified. */
  #abandon(id: number, code: status, details: string): void {
    const call = this.#take(id);
    if (call === undefined) return;
    failCall(call, code, details);
    this.#outgoing.push({ cancelledCallId: id });
    this.#endWhenIdle();
  }

  #endWhenIdle(): void {
    if (this.#state !== 'retiring' || this.#pending.size > 0 || this.#stream.writableEnded) return;
    this.#outgoing.flush();
    this.#stream.end();
  }

  /** Called at every end, including a clean one, and once more after an error. */
  #onEnd(error: ServiceError | undefined): void {
    this.#state = 'ended';
    this.#outgoing.stop();
    clearTimeout(this.#deadlineTimer);
    const code = error?.code === status.UNIMPLEMENTED ? status.UNIMPLEMENTED : status.UNAVAILABLE;
    for (const id of [...this.#pending.keys()]) {
      const call = this.#take(id);
      if (call !== undefined) failCall(call, code, error?.details ?? 'the stream ended');
    }
  }

  /**
   * One timer, for the call that is due first. Under steady load it is set once per deadline, not
   * once per call.
   */
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
