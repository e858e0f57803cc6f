/**
 * Runs one call of an rpc from the bytes of its request to those of its result: at the server's end
 * of the call multiplexer, and between services of one process.
 */
import { status } from '@grpc/grpc-js';
import type { Answer } from '@laurel/proto/wire';
import type { Caller } from './caller.ts';
import { type FailureStatus, statusOfThrown } from './error-mapping.ts';
import type { IncomingCall, ServedRpc } from './implement.ts';
import { MAX_MULTIPLEXED_BYTES } from './wire.ts';

/** Runs a call. Never rejects. `bytes` are the request as the caller serialized it. */
export async function runCall(
  rpc: ServedRpc | undefined,
  bytes: Buffer,
  context: IncomingCall,
): Promise<Answer['result']> {
  if (rpc === undefined) return failure(status.UNIMPLEMENTED, 'the server has no such rpc');
  let request: unknown;
  try {
    request = rpc.method.requestDeserialize(bytes);
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

/**
 * A call as its handler sees it. Its signal is created when a handler first reads it: most calls
 * need none.
 */
export class CallContext implements IncomingCall {
  readonly caller: Caller;
  readonly traceparent: string;
  readonly requestId: string | undefined;
  #isAborted = false;
  #controller: AbortController | undefined;

  constructor({ caller, traceparent, requestId }: Pick<CallContext, 'caller' | 'traceparent' | 'requestId'>) {
    this.caller = caller;
    this.traceparent = traceparent;
    this.requestId = requestId;
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
