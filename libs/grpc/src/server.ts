/**
 * A gRPC server: Laurel's services, the call multiplexer for their hot calls, and the standard
 * health service, on one port.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { readCaller, readNoCaller } from './caller.ts';
import type { ChannelIdentity } from './channel-identity.ts';
import type { RpcLogger } from './definition.ts';
import { watchHandshakes } from './handshakes.ts';
import { createHealth } from './health.ts';
import { type ServiceImplementation, unaryHandlers } from './implement.ts';
import { createMultiplexerServer } from './multiplexer-server.ts';
import { CHANNEL_LIMITS, DEFAULT_DRAIN_LIMIT_MS, MAX_DEADLINE_MS } from './wire.ts';

// Clients look up the replicas of a service only when a connection ends, so a new replica gets no
// calls before that. A new connection costs a TLS handshake, some 2 ms of CPU at each end. If a
// call meets the end of the old connection, grpc-js sends the call on the next connection. The
// grace is longer than any deadline, so no call is cut off.
const CONNECTION_AGE = { limitMs: 60_000, graceMs: MAX_DEADLINE_MS + 5_000 };

export type GrpcServer = AsyncDisposable & {
  /** The port that was bound. */
  readonly port: number;
  /** Sets what the health service reports; a server starts out serving. */
  setServing(ok: boolean): void;
};

/**
 * Starts serving. Port 0 binds a free one. Disposing first reports NOT_SERVING to health checks,
 * accepts no new calls, and lets those in flight end; after `drainLimitMs` (5 s) it cuts them off.
 */
export async function startGrpcServer(options: {
  host: string;
  port: number;
  services: readonly ServiceImplementation[];
  /**
   * If set, every connection needs a certificate of the same authority, and every rpc accepts only
   * its callers.
   */
  identity?: ChannelIdentity | undefined;
  logger: RpcLogger;
  drainLimitMs?: number;
  /**
   * The age at which the server asks a connection to end (a minute), and how much later it cuts the
   * connection off (the latest deadline of a call, and 5 s). For both times together, and a tenth
   * of the age more, a caller can use a certificate that new connections reject.
   */
  connectionAge?: { readonly limitMs: number; readonly graceMs: number };
}): Promise<GrpcServer> {
  const drainLimitMs = options.drainLimitMs ?? DEFAULT_DRAIN_LIMIT_MS;
  const age = options.connectionAge ?? CONNECTION_AGE;
  const server = new Server({
    ...CHANNEL_LIMITS,
    'grpc.max_connection_age_ms': age.limitMs,
    'grpc.max_connection_age_grace_ms': age.graceMs,
  });
  const read = options.identity === undefined ? readNoCaller : readCaller;
  for (const { definition, rpcs } of options.services) server.addService(definition, unaryHandlers(rpcs, read));
  const rpcs = options.services.flatMap((service) => [...service.rpcs.values()]);
  const multiplexer = createMultiplexerServer(new Map(rpcs.map((rpc) => [rpc.method.path, rpc])), read);
  server.addService(multiplexer.definition, multiplexer.implementation);
  const health = createHealth();
  server.addService(health.definition, health.implementation);

  // grpc-js gets connections after their handshake: if it listened itself, nothing could observe
  // failed handshakes.
  const connections = server.createConnectionInjector(ServerCredentials.createInsecure());
  let isDraining = false;
  const take = (socket: Socket) => {
    socket.on('error', () => {
      // The socket's end also ends the session and its calls.
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
    setServing: health.setServing,
    async [Symbol.asyncDispose]() {
      health.setServing(false);
      multiplexer.goAway();
      isDraining = true;
      const closed = listener.listening ? once(listener, 'close') : undefined;
      listener.close();
      // Draining cuts connections off at its limit. forceShutdown would not: without channelz,
      // grpc-js 1.14 finds no connection.
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
