/**
 * One call at its caller, from the value of its request to the end of its promise: over the call
 * multiplexer, and between services of one process.
 */
import { Metadata, status } from '@grpc/grpc-js';
import type { Answer } from '@laurel/proto/wire';
import type { UnaryMethod } from './definition.ts';
import { callFailedError, refusalOf, serviceError } from './error-mapping.ts';
import { MAX_MULTIPLEXED_BYTES } from './wire.ts';

export type OutgoingCall = {
  readonly method: UnaryMethod;
  readonly request: unknown;
  readonly deadlineAt: number;
  readonly signal: AbortSignal | undefined;
  /** The span that the call belongs to; empty outside traces. */
  readonly traceparent: string;
};

/** An outgoing call, with the functions that resolve and reject its promise. */
export type PendingCall = OutgoingCall & {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
};

/** The bytes of the request; null if the call may not be sent, and has therefore ended. */
export function beginCall(call: PendingCall): Buffer | null {
  const failNow = (code: status, details: string): null => {
    failCall(call, code, details);
    return null;
  };
  if (call.signal?.aborted) return failNow(status.CANCELLED, 'the caller gave up');
  if (call.deadlineAt <= Date.now()) return failNow(status.DEADLINE_EXCEEDED, 'the deadline had passed');
  const request = encoded(call);
  if (request === null) return failNow(status.INTERNAL, 'the request could not be encoded');
  if (request.length > MAX_MULTIPLEXED_BYTES) return failNow(status.RESOURCE_EXHAUSTED, 'the request is too large');
  return request;
}

function encoded({ method, request }: OutgoingCall): Buffer | null {
  try {
    return method.requestSerialize(request);
  } catch {
    return null;
  }
}

/** Ends the call with what the server sent: a response, a refusal, or a failure. */
export function endCall(call: PendingCall, result: Answer['result']): void {
  if (result?.$case === 'response') {
    const response = decoded(call.method, result.value);
    if (response === null) failCall(call, status.INTERNAL, 'the response could not be decoded');
    else call.resolve(response);
  } else if (result?.$case === 'failure') {
    const { code, details, trailers } = result.value;
    const metadata = metadataOf(trailers);
    if (metadata === null) failCall(call, status.INTERNAL, 'the trailers could not be read');
    else failCall(call, code, details, metadata);
  } else {
    failCall(call, status.INTERNAL, 'the answer was empty');
  }
}

function decoded(method: UnaryMethod, bytes: Buffer): unknown {
  try {
    return method.responseDeserialize(bytes);
  } catch {
    return null;
  }
}

/** Parses trailers; null for text that gRPC does not accept as trailers. */
function metadataOf(trailers: { readonly [key: string]: string }): Metadata | null {
  const metadata = new Metadata();
  try {
    for (const [key, value] of Object.entries(trailers)) metadata.set(key, value);
    return metadata;
  } catch {
    return null;
  }
}

export function failCall(call: PendingCall, code: status, details: string, metadata: Metadata = new Metadata()): void {
  const error = serviceError({ code, details, metadata });
  const refusal = refusalOf(error);
  if (refusal !== null) call.resolve(refusal);
  else call.reject(callFailedError(call.method.path, error));
}
