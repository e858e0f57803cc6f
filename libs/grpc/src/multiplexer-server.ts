/**
 * The server's end of the call multiplexer: the handlers of the unary rpcs run the calls of a
 * stream concurrently. Each result is sent when its call ends, in any order.
 *
 * States of a stream
 * open       calls and cancellations arrive, results are sent.
 * draining   the caller has half-closed it: no more calls arrive, and the server ends it after the
 *            last result.
 * ended      broken, cancelled, or closed by both sides. Calls that still run are aborted, and
 *            their results dropped.
 * A server that goes away asks every stream, new ones included, to send no new calls; it still
 * serves those that come.
 *
 * States of a call
 * running -> answered | cancelled, once. A cancelled call runs to its end with its signal aborted,
 * and sends no result.
 *
 * Limits
 * calls     as many as the caller sends; its coalescers bound them, and the handlers' queues refuse
 *           the excess.
 * size      MAX_MULTIPLEXED_BYTES a response: a larger one fails its call with RESOURCE_EXHAUSTED.
 *           A message stays below MAX_MESSAGE_BYTES, or gRPC ends the stream.
 * time      no deadline here: the caller cancels a call when its own deadline has passed.
 *
 * Invariants
 * Two running calls of a stream never share an id. A caller that repeats one is broken: its stream
 * ends with INTERNAL, before one call could get the result of another. A call sends at most one
 * result, and nothing is written to a stream that has ended. Every call of a stream is by the
 * caller that opened it.
 */
import { Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';
import {
  type Answer,
  type ExchangeRequest,
  type ExchangeResponse,
  ExchangeServiceService,
  type Call as WireCall,
} from '@laurel/proto/wire';
import { type ReadCaller, readNoCaller } from './caller.ts';
import { createFrameWriter } from './frame-writer.ts';
import type { ServedRpc } from './implement.ts';
import { CallContext, runCall } from './run-call.ts';

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
  /** One callback a stream, which asks its caller to send new calls elsewhere. */
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
      // A multiplexed call carries many requests, so it has no request id.
      const context = new CallContext({ caller, traceparent: call.traceparent, requestId: undefined });
      running.set(call.id, context);
      const result = await runCall(rpcs.get(call.path), call.request, context);
      if (!running.delete(call.id)) return;
      outgoing.push({ id: call.id, result });
      endWhenIdle();
    };
    const cancel = (id: number) => {
      running.get(id)?.abort();
      running.delete(id);
    };
    const askToGo = () => outgoing.push('going away');

    // The caller keeps what it has sent for a retry until it receives headers, so they are sent at
    // once.
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
    // Called at every end of a stream, including a clean one.
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

function responseOf(items: readonly Outgoing[]): ExchangeResponse {
  const response: ExchangeResponse = { answers: [], goingAway: false };
  for (const item of items) {
    if (item === 'going away') response.goingAway = true;
    else response.answers.push(item);
  }
  return response;
}
