/**
 * The server's end of the exchange: calls that arrive on a stream run at the same time, by the handlers of the unary rpcs, and are
 * answered as they end. A stream ends when the caller has ended its side and every call is answered.
 */
import { Metadata, type ServerDuplexStream, status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import {
  type Answer,
  type ExchangeRequest,
  type ExchangeResponse,
  ExchangeServiceService,
  type Call as WireCall,
} from '@laurel/proto/wire';
import { type FailureStatus, statusOfThrown } from './error-mapping.ts';
import { createFrameWriter } from './frame-writer.ts';
import type { IncomingCall, ServedRpc } from './implement.ts';
import { MAX_EXCHANGED_BYTES } from './wire.ts';

type ExchangeStream = ServerDuplexStream<ExchangeRequest, ExchangeResponse>;
type Outgoing = Answer | 'going away';

export type ExchangeServer = {
  readonly definition: ExchangeServiceService;
  readonly implementation: UntypedServiceImplementation;
  /** Asks every caller, and those that come, to use another server for new calls. */
  goAway(): void;
};

/** Serves these rpcs, by their paths. */
export function createExchangeServer(rpcs: ReadonlyMap<string, ServedRpc>): ExchangeServer {
  const farewells = new Set<() => void>();
  let isGoingAway = false;

  const serve = (stream: ExchangeStream): void => {
    const running = new Map<number, CallContext>();
    const outgoing = createFrameWriter<Outgoing>({
      sizeOf: (item) => (item !== 'going away' && item.result?.$case === 'response' ? item.result.value.length : 0),
      write: (items, onWritten) => stream.write(responseOf(items), onWritten),
    });
    let isEndedByCaller = false;

    const endWhenIdle = () => {
      if (!isEndedByCaller || running.size > 0) return;
      outgoing.flush();
      outgoing.stop();
      stream.end();
    };
    const answer = async (call: WireCall) => {
      const context = new CallContext(call.traceparent);
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
    const farewell = () => outgoing.push('going away');

    // Until the caller has headers it keeps what it sends, to send it again.
    stream.sendMetadata(new Metadata());
    farewells.add(farewell);
    if (isGoingAway) farewell();
    stream.on('data', ({ calls, cancelledCallIds }: ExchangeRequest) => {
      for (const call of calls) void answer(call);
      for (const id of cancelledCallIds) cancel(id);
    });
    stream.on('end', () => {
      isEndedByCaller = true;
      endWhenIdle();
    });
    // Comes at every end of a stream, a good one too.
    stream.on('cancelled', () => {
      farewells.delete(farewell);
      outgoing.stop();
      for (const id of [...running.keys()]) cancel(id);
    });
  };

  return {
    definition: ExchangeServiceService,
    implementation: { exchange: serve },
    goAway() {
      isGoingAway = true;
      for (const farewell of farewells) farewell();
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
    if (value.length > MAX_EXCHANGED_BYTES) return failure(status.RESOURCE_EXHAUSTED, 'the response is too large');
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

/** A call of the exchange carries many requests, and belongs to none. */
class CallContext implements IncomingCall {
  readonly requestId = undefined;
  readonly traceparent: string;
  #isAborted = false;
  #controller: AbortController | undefined;

  constructor(traceparent: string) {
    this.traceparent = traceparent;
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
