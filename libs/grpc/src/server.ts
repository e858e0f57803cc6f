/** A gRPC server: our services, the call multiplexer for their hot calls, and the standard health service on one port. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { readCaller, readNoCaller } from './caller.ts';
import type { ChannelIdentity } from './channel-identity.ts';
import type { RpcLogger } from './definition.ts';
import { watchHandshakes } from './handshakes.ts';
import { type ServiceImplementation, unaryHandlers } from './implement.ts';
import { createMultiplexerServer } from './multiplexer-server.ts';
import { CHANNEL_LIMITS, KEEPALIVE } from './wire.ts';

const DEFAULT_DRAIN_LIMIT_MS = 5_000;
// Clients look up the replicas of a service only when one of their connections ends, so a replica that joins gets no calls before that. A new
// connection is a TLS handshake of some 2 ms CPU at each end; a call that meets the end of the old one is sent on the next by grpc-js.
const CONNECTION_AGE = { limitMs: 60_000, graceMs: 30_000 };
// The health service's name for the server as a whole.
const WHOLE_SERVER = '';

export type GrpcServer = AsyncDisposable & {
  /** The port that was bound. */
  readonly port: number;
  /** What the health service answers; a server starts out serving. */
  setServing(ok: boolean): void;
};

/**
 * Starts serving. Port 0 binds a free one. Disposing first answers NOT_SERVING to health checks, accepts no new calls, and lets those
 * in flight end; after `drainLimitMs` (5 s) it cuts them off.
 */
export async function startGrpcServer(options: {
  host: string;
  port: number;
  services: readonly ServiceImplementation[];
  /** With it every connection needs a certificate of the same authority, and every rpc one of the callers that it accepts. */
  identity?: ChannelIdentity | undefined;
  logger: RpcLogger;
  drainLimitMs?: number;
  /**
   * When a connection is asked to end (a minute), and how much later it is ended (30 s): for so long, and a tenth more, a caller can go
   * on with a certificate that new connections reject.
   */
  connectionAge?: { readonly limitMs: number; readonly graceMs: number };
}): Promise<GrpcServer> {
  const drainLimitMs = options.drainLimitMs ?? DEFAULT_DRAIN_LIMIT_MS;
  const age = options.connectionAge ?? CONNECTION_AGE;
  const server = new Server({
    ...CHANNEL_LIMITS,
    ...KEEPALIVE,
    'grpc.max_connection_age_ms': age.limitMs,
    'grpc.max_connection_age_grace_ms': age.graceMs,
  });
  const read = options.identity === undefined ? readNoCaller : readCaller;
  for (const { definition, rpcs } of options.services) server.addService(definition, unaryHandlers(rpcs, read));
  const rpcs = options.services.flatMap((service) => [...service.rpcs.values()]);
  const multiplexer = createMultiplexerServer(new Map(rpcs.map((rpc) => [rpc.method.path, rpc])), read);
  server.addService(multiplexer.definition, multiplexer.implementation);
  const health = new HealthImplementation({ [WHOLE_SERVER]: 'SERVING' });
  health.addToServer(server);

  // grpc-js gets connections whose handshake is complete: if it listened itself, failed handshakes could not be observed.
  const connections = server.createConnectionInjector(ServerCredentials.createInsecure());
  let isDraining = false;
  const take = (socket: Socket) => {
    socket.on('error', () => {
      // The session ends with it, and so do its calls.
    });
    if (isDraining) socket.destroy();
    else connections.injectConnection(socket);
  };
  const tlsServer = options.identity?.createServer();
  if (tlsServer !== undefined) watchHandshakes(tlsServer, options.logger);
  const listener = tlsServer?.on('secureConnection', take) ?? createServer(take);
  listener.listen({ host: options.host, port: options.port });
  await once(listener, 'listening');

  return {
    port: (listener.address() as AddressInfo).port,
    setServing(ok) {
      health.setStatus(WHOLE_SERVER, ok ? 'SERVING' : 'NOT_SERVING');
    },
    async [Symbol.asyncDispose]() {
      health.setStatus(WHOLE_SERVER, 'NOT_SERVING');
      multiplexer.goAway();
      isDraining = true;
      const closed = listener.listening ? once(listener, 'close') : undefined;
      listener.close();
      // Draining cuts connections off at its limit. forceShutdown would not: in grpc-js 1.14 it finds no connection without channelz.
      connections.drain(drainLimitMs);
      const limit = setTimeout(() => {
        options.logger.warn({ limitMs: drainLimitMs }, 'calls still in flight are cut off');
      }, drainLimitMs);
      try {
        await Promise.all([promisify(server.tryShutdown.bind(server))(), closed]);
      } finally {
        clearTimeout(limit);
      }
    },
  };
}
