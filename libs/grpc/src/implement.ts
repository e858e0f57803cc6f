/**
 * Turns typed handlers into the implementation that a gRPC server registers, and into the methods
 * that the call multiplexer runs.
 */
import type { handleUnaryCall, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import { isRefused, type Refused } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';
import { counter, histogram, type Span, tracer } from '@laurel/telemetry';
import type { ServiceName } from '@laurel/topology';
import { endAnswered, endFailed, endRefused, rpcAttributes, spanName } from './call-span.ts';
import { type AcceptedCallers, type Caller, CallNotPermittedError, type ReadCaller } from './caller.ts';
import type { Definition, RequestOf, ResponseOf, RpcLogger, UnaryMethod } from './definition.ts';
import { type FailureStatus, statusOfNoPermission, statusOfRefusal, statusOfThrown } from './error-mapping.ts';
import { REQUEST_ID_KEY, SECONDS_BUCKETS, TRACEPARENT_KEY } from './wire.ts';

export type RpcContext = {
  /**
   * The public request that this call belongs to; undefined for hot calls, which carry batches, and
   * for background work.
   */
  readonly requestId: string | undefined;
  /** One of the callers that the rpc accepts, or undefined on a channel without certificates. */
  readonly caller: Caller;
  /** The signal is aborted when the caller went away or its deadline passed. */
  readonly signal: AbortSignal;
};

/**
 * One handler for each rpc of the service. It returns a response, returns a refusal, or throws,
 * which is a bug.
 */
export type Handlers<Service> = {
  readonly [Rpc in keyof Service]: (
    request: RequestOf<Service[Rpc]>,
    context: RpcContext,
  ) => Promise<ResponseOf<Service[Rpc]> | Refused>;
};

export type ServiceImplementation = {
  readonly definition: Definition;
  /** The rpcs are keyed by their names in the definition. */
  readonly rpcs: ReadonlyMap<string, ServedRpc>;
};

type RpcOutcome =
  | { readonly kind: 'response'; readonly response: unknown }
  | { readonly kind: 'failure'; readonly status: FailureStatus };

export type IncomingCall = RpcContext & {
  /** The span of the caller, if the call is in a trace. */
  readonly traceparent: string | undefined;
};

/**
 * One rpc, unary or multiplexed. `run` never rejects; its argument is the result of
 * `method.requestDeserialize`.
 */
export type ServedRpc = {
  readonly method: UnaryMethod;
  run(request: unknown, call: IncomingCall): Promise<RpcOutcome>;
};

/** The definition is the generated `XServiceService`. */
export function implement<Service extends Definition>(
  definition: Service,
  handlers: Handlers<Service>,
  { logger, callers }: { logger: RpcLogger; callers: AcceptedCallers<Service> },
): ServiceImplementation {
  const served: Record<string, UnaryMethod> = {};
  const rpcs = new Map<string, ServedRpc>();
  for (const name in definition) {
    const method: UnaryMethod | undefined = definition[name];
    if (method === undefined) continue;
    const accepted = isList(callers) ? callers : callers[name];
    const rpc: ServedRpc = {
      method: { ...method, responseSerialize: loggedSerialize(method, logger) },
      run: runner(method.path, handlers[name], accepted, logger),
    };
    served[name] = rpc.method;
    rpcs.set(name, rpc);
  }
  return { definition: served, rpcs };
}

function isList<Service>(callers: AcceptedCallers<Service>): callers is readonly ServiceName[] {
  return Array.isArray(callers);
}

/** The implementation that a gRPC server registers for unary calls. */
export function unaryHandlers(
  rpcs: ServiceImplementation['rpcs'],
  readCaller: ReadCaller,
): UntypedServiceImplementation {
  return Object.fromEntries([...rpcs].map(([name, rpc]) => [name, unaryHandler(rpc, readCaller)]));
}

function unaryHandler(rpc: ServedRpc, readCaller: ReadCaller): handleUnaryCall<unknown, unknown> {
  return async (call, callback) => {
    const outcome = await rpc.run(call.request, new CallContext(call, readCaller(call)));
    if (outcome.kind === 'response') callback(null, outcome.response);
    else callback(outcome.status);
  };
}

function runner<Request>(
  path: string,
  handler: (request: Request, context: RpcContext) => Promise<unknown>,
  accepted: readonly ServiceName[],
  logger: RpcLogger,
): (request: Request, call: IncomingCall) => Promise<RpcOutcome> {
  const acceptedCallers: ReadonlySet<Caller> = new Set<Caller>([...accepted, undefined]);
  const turnedAway = counter(
    'laurel_grpc_calls_not_permitted_total',
    'Calls that were refused because of who made them.',
    ['rpc', 'caller'],
  );
  const seconds = histogram('laurel_grpc_server_seconds', 'How long served calls took.', SECONDS_BUCKETS, [
    'rpc',
    'outcome',
  ]);
  const run = async (request: Request, context: RpcContext, span: Span | undefined): Promise<RpcOutcome> => {
    const startedAt = performance.now();
    const end = (outcome: string) => seconds.observe({ rpc: path, outcome }, (performance.now() - startedAt) / 1_000);
    try {
      if (!acceptedCallers.has(context.caller)) throw new CallNotPermittedError('the rpc does not accept this caller');
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
      if (error instanceof CallNotPermittedError) {
        const { caller = 'unknown' } = context;
        end('not_permitted');
        turnedAway.inc({ rpc: path, caller });
        logger.warn({ rpc: path, caller, reason: error.message }, 'call not permitted');
        const status = statusOfNoPermission();
        endFailed(span, status.code, error);
        return { kind: 'failure', status };
      }
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

/** Members are created when a handler first reads them: most calls carry a batch and need none. */
class CallContext implements IncomingCall {
  readonly caller: Caller;
  readonly #call: ServerUnaryCall<unknown, unknown>;
  #controller: AbortController | undefined;

  constructor(call: ServerUnaryCall<unknown, unknown>, caller: Caller) {
    this.#call = call;
    this.caller = caller;
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

/**
 * Logs a response that does not fit its message, which is a Laurel bug. gRPC would send the error's
 * text to the caller.
 */
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
