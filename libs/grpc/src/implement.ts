/** Turns typed handlers into what a gRPC server registers, and into what the exchange runs. */
import type { handleUnaryCall, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import { isRefused, type Refused } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';
import { histogram, type Span, tracer } from '@laurel/telemetry';
import { endAnswered, endFailed, endRefused, rpcAttributes, spanName } from './call-span.ts';
import type { Definition, RequestOf, ResponseOf, RpcLogger, UnaryMethod } from './definition.ts';
import { type FailureStatus, statusOfRefusal, statusOfThrown } from './error-mapping.ts';
import { REQUEST_ID_KEY, SECONDS_BUCKETS, TRACEPARENT_KEY } from './wire.ts';

export type RpcContext = {
  /** The public request that this call belongs to; undefined for hot calls, which carry batches, and for background work. */
  readonly requestId: string | undefined;
  /** Aborted when the caller went away or its deadline passed. */
  readonly signal: AbortSignal;
};

/** One handler for each rpc of the service. It answers, refuses with a value, or throws what is a bug. */
export type Handlers<Service> = {
  readonly [Rpc in keyof Service]: (
    request: RequestOf<Service[Rpc]>,
    context: RpcContext,
  ) => Promise<ResponseOf<Service[Rpc]> | Refused>;
};

export type ServiceImplementation = {
  readonly definition: Definition;
  readonly implementation: UntypedServiceImplementation;
  readonly rpcs: readonly ServedRpc[];
};

type RpcOutcome =
  | { readonly kind: 'response'; readonly response: unknown }
  | { readonly kind: 'failure'; readonly status: FailureStatus };

export type IncomingCall = RpcContext & {
  /** The span of the caller, if the call is in a trace. */
  readonly traceparent: string | undefined;
};

/** One rpc, however its call arrived. `run` never rejects. */
export type ServedRpc = {
  readonly method: UnaryMethod;
  run(request: unknown, call: IncomingCall): Promise<RpcOutcome>;
};

type AnyHandler = (request: unknown, context: RpcContext) => Promise<unknown>;

/** The definition is the generated `XServiceService`. */
export function implement<Service extends Definition>(
  definition: Service,
  handlers: Handlers<Service>,
  { logger }: { logger: RpcLogger },
): ServiceImplementation {
  const served: Record<string, UnaryMethod> = {};
  const implementation: UntypedServiceImplementation = {};
  const rpcs: ServedRpc[] = [];
  for (const [name, method] of Object.entries<UnaryMethod>(definition)) {
    const rpc = {
      method: { ...method, responseSerialize: loggedSerialize(method, logger) },
      run: runner(method.path, handlers[name] as AnyHandler, logger),
    };
    served[name] = rpc.method;
    implementation[name] = unaryHandler(rpc);
    rpcs.push(rpc);
  }
  return { definition: served, implementation, rpcs };
}

function unaryHandler(rpc: ServedRpc): handleUnaryCall<unknown, unknown> {
  return async (call, callback) => {
    const outcome = await rpc.run(call.request, new CallContext(call));
    if (outcome.kind === 'response') callback(null, outcome.response);
    else callback(outcome.status);
  };
}

function runner(path: string, handler: AnyHandler, logger: RpcLogger): ServedRpc['run'] {
  const seconds = histogram('laurel_grpc_server_seconds', 'How long served calls took.', SECONDS_BUCKETS, [
    'rpc',
    'outcome',
  ]);
  const run = async (request: unknown, context: RpcContext, span: Span | undefined): Promise<RpcOutcome> => {
    const startedAt = performance.now();
    const end = (outcome: string) => seconds.observe({ rpc: path, outcome }, (performance.now() - startedAt) / 1_000);
    try {
      const result = await handler(request, context);
      if (isRefused(result)) {
        end('refused');
        endRefused(span, result);
        return { kind: 'failure', status: statusOfRefusal(result) };
      }
      end('ok');
      endAnswered(span);
      return { kind: 'response', response: result };
    } catch (error) {
      end('error');
      if (!(error instanceof LostReplyError)) logger.error({ err: error, rpc: path }, 'call failed');
      const status = statusOfThrown(error);
      endFailed(span, status.code, error);
      return { kind: 'failure', status };
    }
  };
  return (request, call) => {
    const span = tracer?.follow(call.traceparent, spanName(path), rpcAttributes(path));
    return span === undefined ? run(request, call, undefined) : span.run(() => run(request, call, span));
  };
}

/** Its members are made only when a handler asks for them: most calls carry a batch and need none. */
class CallContext implements IncomingCall {
  readonly #call: ServerUnaryCall<unknown, unknown>;
  #controller: AbortController | undefined;

  constructor(call: ServerUnaryCall<unknown, unknown>) {
    this.#call = call;
  }

  get requestId(): string | undefined {
    return this.#call.metadata.get(REQUEST_ID_KEY)[0]?.toString();
  }

  get traceparent(): string | undefined {
    return this.#call.metadata.get(TRACEPARENT_KEY)[0]?.toString();
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      if (this.#call.cancelled) controller.abort();
      else this.#call.once('cancelled', () => controller.abort());
    }
    return this.#controller.signal;
  }
}

/** A response that does not fit its message is a bug of ours: it is logged, and gRPC, which tells the caller the message, gets none. */
function loggedSerialize(method: UnaryMethod, logger: RpcLogger): UnaryMethod['responseSerialize'] {
  return (response) => {
    try {
      return method.responseSerialize(response);
    } catch (error) {
      logger.error({ err: error, rpc: method.path }, 'response could not be encoded');
      throw new Error('internal error');
    }
  };
}
