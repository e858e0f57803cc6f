/** The public port: HTTP in front of the app, and the limits of its connections. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Foundation } from '@laurel/service';
import type { Express } from 'express';
import { connectionsByDescriptors, limitConnections } from './admission/connections.ts';
import type { GatewayConfig } from './config.ts';
import { contextOf } from './http/context.ts';
import { answerMalformed } from './http/errors.ts';
import { createHttpServer, drain } from './http/http-server.ts';

/**
 * Starts to listen. At its stop, the port first accepts no new requests, and then waits until those
 * in flight have ended.
 */
export async function startPublicPort(
  app: Express,
  config: GatewayConfig,
  isProxy: (address: string) => boolean,
  { logger, started }: Foundation,
): Promise<number> {
  const byDescriptors = connectionsByDescriptors();
  if (byDescriptors < config.MAX_CONNECTIONS) logger.warn({ byDescriptors }, 'too few descriptors for MAX_CONNECTIONS');
  const server = createHttpServer(app);
  const connections = started.use(
    limitConnections(server, {
      maxConnections: Math.min(config.MAX_CONNECTIONS, byDescriptors),
      maxPerAddress: config.MAX_CONNECTIONS_PER_ADDRESS,
      abort: (socket) => answerMalformed(new Error('its body stalled'), socket),
      isProxy,
    }),
  );
  server.on('request', (request, response: Parameters<Express>[1]) => {
    if (connections.begin(request, response, () => contextOf(response).isCallerKnown)) {
      app(request as Parameters<Express>[0], response);
    }
  });
  server.listen(config.HTTP_PORT, config.HTTP_HOST);
  await once(server, 'listening');
  started.defer(() => drain(server));
  return (server.address() as AddressInfo).port;
}
