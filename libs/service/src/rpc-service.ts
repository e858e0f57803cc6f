/**
 * The life of a service that others call, from its start to its end. It starts in this order:
 *
 * 1. Its foundation (foundation.ts): identity, database, the verified role, the database's time.
 * 2. Its own parts, which its server.ts starts: clients, events, queues of deferred work.
 * 3. Its workers, and after them the continuous audit of its rows.
 * 4. Its rpcs, for services of the same process and at its port, with the health service of gRPC.
 * 5. Its admin port, or its part of the process's admin port (shared-process.ts). The service is
 *    ready while it knows the time and reaches its database; what it calls does not count, because
 *    otherwise one service that is down would make all its callers unready.
 *
 * It ends in reverse: the admin port closes; health answers NOT_SERVING, and the calls in flight
 * end; the audit and the workers end with their run; the service's parts end, each with the work
 * that it was given; the database closes last. A step of the start that fails ends what has started
 * in the same manner.
 */
import { IN_PROCESS, type ServiceImplementation, startGrpcServer } from '@laurel/grpc';
import {
  type Audit,
  type Foundation,
  type FoundationOptions,
  startAdmin,
  startAudit,
  startFoundation,
  startWorkers,
} from './foundation.ts';
import type { GrpcServiceSettings } from './settings.ts';
import type { Worker } from './worker.ts';

export type RunningService = AsyncDisposable & {
  /** The port of the rpcs; 0 if only services of the same process reach them. */
  readonly port: number;
  readonly adminPort: number;
};

/** The parts that only this service has. Those that must end are in its foundation's `started`. */
export interface ServiceParts<ForTests> {
  /** The gRPC services that it serves, on one port. */
  readonly rpcs: readonly ServiceImplementation[];
  /** The workers are in the order of their start. */
  readonly workers: readonly Worker[];
  /** The audit is null where no row of the service is about money. */
  readonly audit: Audit | null;
  /** The service's tests call these to act immediately, instead of waiting. */
  readonly forTests: ForTests;
}

export async function startRpcService<ForTests>(
  options: FoundationOptions & { readonly config: GrpcServiceSettings },
  startParts: (foundation: Foundation) => Promise<ServiceParts<ForTests>> | ServiceParts<ForTests>,
): Promise<RunningService & ForTests> {
  await using started = new AsyncDisposableStack();
  const { config } = options;
  const foundation = await startFoundation(options, started);
  const { rpcs, workers, audit, forTests } = await startParts(foundation);
  startWorkers(foundation, workers);
  if (audit !== null) startAudit(foundation, audit);

  const { database, databaseClock } = foundation;
  const port = await serve(rpcs, config, foundation);
  const isReady = async () => databaseClock.isKnown() && (await database.isReachable());
  const adminPort = await startAdmin(options, { isReady }, started);

  const running = started.move();
  return {
    ...forTests,
    port,
    adminPort,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Serves the services of the same process, and others at a port of its own. Returns the port. */
async function serve(
  services: readonly ServiceImplementation[],
  config: GrpcServiceSettings,
  { identity, inProcess, logger, started }: Foundation,
): Promise<number> {
  if (inProcess !== undefined) started.use(inProcess.serve({ services, logger }));
  const { GRPC_HOST: host, GRPC_PORT: port } = config;
  if (port === IN_PROCESS) {
    if (inProcess === undefined) throw new Error(`GRPC_PORT is ${IN_PROCESS}, and the process has no other service`);
    return 0;
  }
  return started.use(await startGrpcServer({ host, port, services, identity, logger })).port;
}
