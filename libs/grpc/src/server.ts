/** A gRPC server: our services, the exchange for their hot calls, and the standard health service on one port. */
import { promisify } from 'node:util';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import type { RpcLogger } from './definition.ts';
import { createExchangeServer } from './exchange-server.ts';
import type { ServiceImplementation } from './implement.ts';
import { CHANNEL_LIMITS, KEEPALIVE } from './wire.ts';

const DEFAULT_DRAIN_LIMIT_MS = 5_000;
// Calls go out on existing connections for ever; ending them now and then lets callers find replicas that joined later.
const MAX_CONNECTION_AGE_MS = 10 * 60_000;
const MAX_CONNECTION_AGE_GRACE_MS = 30_000;
// The health service's name for the server as a whole.
const WHOLE_SERVER = '';

export type GrpcServer = AsyncDisposable & {
  /** The port that was bound. */
  readonly port: number;
  /** What the health service answers; a server starts out serving. */
  setServing(ok: boolean): void;
};

/**
 * Starts serving. Port 0 takes a free one. Disposing first answers NOT_SERVING to health checks, takes no new calls, and lets those
 * in flight end; after `drainLimitMs` (5 s) it cuts them off.
 */
export async function startGrpcServer(options: {
  host: string;
  port: number;
  services: readonly ServiceImplementation[];
  logger: RpcLogger;
  drainLimitMs?: number;
}): Promise<GrpcServer> {
  const drainLimitMs = options.drainLimitMs ?? DEFAULT_DRAIN_LIMIT_MS;
  const server = new Server({
    ...CHANNEL_LIMITS,
    ...KEEPALIVE,
    'grpc.max_connection_age_ms': MAX_CONNECTION_AGE_MS,
    'grpc.max_connection_age_grace_ms': MAX_CONNECTION_AGE_GRACE_MS,
  });
  for (const { definition, implementation } of options.services) server.addService(definition, implementation);
  const rpcs = options.services.flatMap((service) => service.rpcs);
  const exchange = createExchangeServer(new Map(rpcs.map((rpc) => [rpc.method.path, rpc])));
  server.addService(exchange.definition, exchange.implementation);
  const health = new HealthImplementation({ [WHOLE_SERVER]: 'SERVING' });
  health.addToServer(server);

  const bind = promisify(server.bindAsync.bind(server));
  const port = await bind(`${options.host}:${options.port}`, ServerCredentials.createInsecure());
  const address = `${options.host}:${port}`;

  return {
    port,
    setServing(ok) {
      health.setStatus(WHOLE_SERVER, ok ? 'SERVING' : 'NOT_SERVING');
    },
    async [Symbol.asyncDispose]() {
      health.setStatus(WHOLE_SERVER, 'NOT_SERVING');
      exchange.goAway();
      // Draining cuts connections off at its limit. forceShutdown would not: in grpc-js 1.14 it knows none without channelz.
      server.drain(address, drainLimitMs);
      const limit = setTimeout(() => {
        options.logger.warn({ limitMs: drainLimitMs }, 'calls still in flight are cut off');
      }, drainLimitMs);
      try {
        await promisify(server.tryShutdown.bind(server))();
      } finally {
        clearTimeout(limit);
      }
    },
  };
}
