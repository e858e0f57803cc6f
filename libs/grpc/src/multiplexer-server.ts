/**
 * The server's end of the call multiplexer: calls that arrive on a stream run concurrently, by the handlers of the unary rpcs, and are
 * answered as they end, in any order.
 *
 * States of a stream
 *   open       calls and cancellations arrive, answers are sent.
 *   draining   the caller has ended its side: no more calls, and our side ends with the last answer.
 *   ended      broken, cancelled, or both sides have ended. Calls that still run are aborted, and their answers are dropped.
 *   A server that goes away also asks every stream, new ones included, to send no new calls here; it serves them all the same.
 *
 * States of a call
 *   running -> answered | cancelled, once. A cancelled call runs to its end, with its signal aborted, and is not answered.
 *
 * Limits
 *   calls     as many at a time as the caller sends; its coalescers bound them, and the handlers' own queues refuse the excess.
 *   size      MAX_MULTIPLEXED_BYTES a response: that call fails with RESOURCE_EXHAUSTED. A message is below MAX_MESSAGE_BYTES, or gRPC
 *             ends the stream.
 *   time      a call has no deadline of its own here: the caller cancels it when its own has passed.
 *
 * Invariants
 *   Two running calls of a stream never have one id: a caller that repeats one is broken, and its stream ends with INTERNAL before one call
 *   could get the answer of another. A call is answered at most once, and nothing is written to a stream that was ended. Every call
 *   of a stream is made by the caller that opened it.
 */
import { Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';
import {
  type Answer,
  type ExchangeRequest,
  type ExchangeResponse,
  ExchangeServiceService,
  type Call as WireCall,
} from '@laurel/proto/wire';
import { type Caller, type ReadCaller, readNoCaller } from './caller.ts';
import { type FailureStatus, statusOfThrown } from './error-mapping.ts';
import { createFrameWriter } from './frame-writer.ts';
import type { IncomingCall, ServedRpc } from './implement.ts';
import { MAX_MULTIPLEXED_BYTES } from './wire.ts';

type ServedStream = ServerDuplexStream<ExchangeRequest, ExchangeResponse>;
type Outgoing = Answer | 'going away';

export type MultiplexerServer = {
  readonly definition: ExchangeServiceService;
  readonly implementation: { readonly exchange: (stream: ServedStream) => void };
  /** Asks every caller, later ones included, to use another server for new calls. */
  goAway(): void;
};

/** Serves these rpcs, by their paths. The caller of each call is the one that opened its stream. */
export function createMultiplexerServer(
  rpcs: ReadonlyMap<string, ServedRpc>,
  readCaller: ReadCaller = readNoCaller,
): MultiplexerServer {
  /** For each stream, what asks its caller to send new calls elsewhere. */
  const askers = new Set<() => void>();
  let isGoingAway = false;

  const serve = (stream: ServedStream): void => {
    const caller = readCaller(stream);
    const running = new Map<number, CallContext>();
    const outgoing = createFrameWriter<Outgoing>({
      sizeOf: (item) => (item !== 'going away' && item.result?.$case === 'response' ? item.result.value.length : 0),
      write: (items, onWritten) => stream.write(responseOf(items), onWritten),
    });
    let state: 'open' | 'draining' | 'ended' = 'open';

    const endWhenIdle = () => {
      if (state !== 'draining' || running.size > 0) return;
      state = 'ended';
      outgoing.flush();
      outgoing.stop();
      stream.end();
    };
    const end = () => {
      state = 'ended';
      askers.delete(askToGo);
      outgoing.stop();
      for (const id of [...running.keys()]) cancel(id);
    };
    const answer = async (call: WireCall) => {
      if (state !== 'open') return;
      if (running.has(call.id)) {
        end();
        stream.emit('error', { code: status.INTERNAL, details: 'two running calls of a stream have one id' });
        return;
      }
      const context = new CallContext(call.traceparent, caller);
      running.set(call.id, context);
      const result = await runCall(rpcs.get(call.path), call, context);
      if (!running.delete(call.id)) return;
      outgoing.push({ id: call.id, result });
      endWhenIdle();
    };
    const cancel = (id: number) => {
      running.get(id)?.abort();
      running.delete(id);
    };
    const askToGo = () => outgoing.push('going away');

    // Until the caller has headers it buffers what it sends, for a retry.
    stream.sendMetadata(new Metadata());
    askers.add(askToGo);
    if (isGoingAway) askToGo();
    stream.on('data', ({ calls, cancelledCallIds }: ExchangeRequest) => {
      for (const call of calls) void answer(call);
      for (const id of cancelledCallIds) cancel(id);
    });
    stream.on('end', () => {
      if (state === 'open') state = 'draining';
      endWhenIdle();
    });
    // Called at every end of a stream, a clean one too.
    stream.on('cancelled', end);
  };

  return {
    definition: ExchangeServiceService,
    implementation: { exchange: serve },
    goAway() {
      isGoingAway = true;
      for (const askToGo of askers) askToGo();
    },
  };
}

/** Never rejects. */
async function runCall(rpc: ServedRpc | undefined, call: WireCall, context: IncomingCall): Promise<Answer['result']> {
  if (rpc === undefined) return failure(status.UNIMPLEMENTED, 'the server has no such rpc');
  let request: unknown;
  try {
    request = rpc.method.requestDeserialize(call.request);
  } catch {
    return failure(status.INTERNAL, 'the request could not be decoded');
  }
  const outcome = await rpc.run(request, context);
  if (outcome.kind === 'failure') return failureOf(outcome.status);
  try {
    const value = rpc.method.responseSerialize(outcome.response);
    if (value.length > MAX_MULTIPLEXED_BYTES) return failure(status.RESOURCE_EXHAUSTED, 'the response is too large');
    return { $case: 'response', value };
  } catch (error) {
    return failureOf(statusOfThrown(error));
  }
}

function failure(code: status, details: string): Answer['result'] {
  return { $case: 'failure', value: { code, details, trailers: {} } };
}

function failureOf({ code, details, metadata }: FailureStatus): Answer['result'] {
  const trailers = Object.fromEntries(Object.entries(metadata.getMap()).map(([key, value]) => [key, String(value)]));
  return { $case: 'failure', value: { code, details, trailers } };
}

function responseOf(items: readonly Outgoing[]): ExchangeResponse {
  const response: ExchangeResponse = { answers: [], goingAway: false };
  for (const item of items) {
    if (item === 'going away') response.goingAway = true;
    else response.answers.push(item);
  }
  return response;
}

/** A multiplexed call carries many requests, and belongs to none. */
class CallContext implements IncomingCall {
  readonly requestId = undefined;
  readonly traceparent: string;
  readonly caller: Caller;
  #isAborted = false;
  #controller: AbortController | undefined;

  constructor(traceparent: string, caller: Caller) {
    this.traceparent = traceparent;
    this.caller = caller;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }
}
