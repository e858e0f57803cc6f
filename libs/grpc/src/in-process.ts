/**
 * Calls between services of one process. Decision 37 has the reasons, and how to remove it.
 *
 * A call goes the way of a multiplexed call, without the stream: the request becomes the bytes that
 * it has on the wire, the server reads them and runs the rpc, and the response comes back as bytes.
 * So each side holds values of its own, which are what gRPC would have delivered.
 *
 * The caller of a call is the service that the channel was made for. No request can name another
 * one, and no certificate is needed.
 *
 * States of a service
 * absent     not started yet, or stopped: calls fail with UNAVAILABLE, as at a closed port.
 * serving    accepts calls.
 * draining   accepts no calls. Those that run still end, until the drain limit cuts them off.
 *
 * States of a call
 * pending -> ended, once: by its result, its deadline, its signal, or the drain limit. When a
 * caller gives up, the signal of the handler is aborted, and its result is dropped.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { status } from '@grpc/grpc-js';
import type { ServiceName } from '@laurel/topology';
import type { RpcLogger } from './definition.ts';
import type { ServedRpc, ServiceImplementation } from './implement.ts';
import { beginCall, endCall, failCall, type OutgoingCall } from './pending-call.ts';
import { CallContext, runCall } from './run-call.ts';
import { DEFAULT_DRAIN_LIMIT_MS } from './wire.ts';

/** The address of a service that runs in the same process as its caller. */
export const IN_PROCESS = 'in-process';

/** How one service of a process calls the other services of that process, and how they call it. */
export interface InProcessChannel {
  isServing(service: string): boolean;
  /** Ends like a call over gRPC: with the response, a refusal, or a CallFailedError. */
  call(service: string, call: OutgoingCall, requestId: string | undefined): Promise<unknown>;
  /**
   * Serves the rpcs. Disposing accepts no new calls, and lets those that run end, as a gRPC server
   * does.
   */
  serve(options: {
    readonly services: readonly ServiceImplementation[];
    readonly logger: RpcLogger;
    readonly drainLimitMs?: number | undefined;
  }): AsyncDisposable;
}

/** Connects the services of one process: returns the channel of each, by its name. */
export function createInProcessChannels(): (service: ServiceName) => InProcessChannel {
  const serving = new Map<string, InProcessServer>();

  return (caller) => ({
    isServing: (service) => serving.has(service),
    call(service, call, requestId) {
      return new Promise((resolve, reject) => {
        const pending = { ...call, resolve, reject };
        const bytes = beginCall(pending);
        if (bytes === null) return;
        const server = serving.get(service);
        if (server === undefined) return failCall(pending, status.UNAVAILABLE, 'the service does not run');
        const { deadlineAt, signal, traceparent } = call;
        const context = new CallContext({ caller, traceparent, requestId });
        const giveUp = (code: status, details: string) => {
          if (!running.end()) return;
          failCall(pending, code, details);
          context.abort();
        };
        const onAbort = () => giveUp(status.CANCELLED, 'the caller gave up');
        const timer = setTimeout(
          () => giveUp(status.DEADLINE_EXCEEDED, 'the deadline passed'),
          deadlineAt - Date.now(),
        );
        signal?.addEventListener('abort', onAbort, { once: true });
        const running = server.begin({
          onEnd() {
            clearTimeout(timer);
            signal?.removeEventListener('abort', onAbort);
          },
          cutOff: () => giveUp(status.UNAVAILABLE, 'the service stopped'),
        });
        void server.run(call.method.path, bytes, context).then((result) => {
          if (running.end()) endCall(pending, result);
        });
      });
    },
    serve({ services, logger, drainLimitMs = DEFAULT_DRAIN_LIMIT_MS }) {
      if (serving.has(caller)) throw new Error(`${caller} serves in this process already`);
      const server = new InProcessServer(services);
      serving.set(caller, server);
      return {
        async [Symbol.asyncDispose]() {
          serving.delete(caller);
          const limit = setTimeout(() => {
            logger.warn({ limitMs: drainLimitMs }, 'calls still in flight are cut off');
            server.cutOff();
          }, drainLimitMs);
          await server.stop();
          clearTimeout(limit);
        },
      };
    },
  });
}

interface RunningCall {
  /** This is called once, when the call has ended for its caller. */
  onEnd(): void;
  cutOff(): void;
}

class InProcessServer {
  readonly #rpcs: ReadonlyMap<string, ServedRpc>;
  readonly #running = new Set<RunningCall>();
  // Handlers run in the context in which the service has started, not in their caller's.
  readonly #inOwnContext = AsyncLocalStorage.snapshot();
  readonly #idle = Promise.withResolvers<void>();
  #isStopping = false;

  constructor(services: readonly ServiceImplementation[]) {
    const rpcs = services.flatMap((service) => [...service.rpcs.values()]);
    this.#rpcs = new Map(rpcs.map((rpc) => [rpc.method.path, rpc]));
  }

  /** `end` returns whether this was the first end of the call. */
  begin(call: RunningCall): { end(): boolean } {
    this.#running.add(call);
    return {
      end: () => {
        if (!this.#running.delete(call)) return false;
        call.onEnd();
        this.#resolveWhenIdle();
        return true;
      },
    };
  }

  run(path: string, bytes: Buffer, context: CallContext): ReturnType<typeof runCall> {
    return this.#inOwnContext(runCall, this.#rpcs.get(path), bytes, context);
  }

  cutOff(): void {
    for (const call of [...this.#running]) call.cutOff();
  }

  /** Resolves when the last call has ended; no call begins after this one. */
  stop(): Promise<void> {
    this.#isStopping = true;
    this.#resolveWhenIdle();
    return this.#idle.promise;
  }

  #resolveWhenIdle(): void {
    if (this.#isStopping && this.#running.size === 0) this.#idle.resolve();
  }
}
