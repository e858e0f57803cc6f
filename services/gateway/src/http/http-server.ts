/** The HTTP server in front of the app: its limits of time and size, and how it drains. */
import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express } from 'express';
import { answerMalformed } from './errors.ts';

/**
 * A whole request must arrive within this time, and its headers within the shorter time below. A
 * slower caller would hold a connection without using it.
 */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** How often both limits are checked; Node's default is 30 s. */
const TIMEOUT_CHECK_MS = 1_000;
/**
 * The most bytes of an unread body that a paused request stream buffers: one read of the socket.
 */
const STREAM_BYTES = 16 * 1024;
/**
 * How long an idle connection stays open: longer than with common load balancers (60 s). So the
 * load balancer closes an idle connection first. Otherwise this server might close it just when the
 * load balancer sends a request.
 */
const KEEP_ALIVE_MS = 65_000;
/**
 * The most bytes of headers that are read: enough that a request with a header that is far too long
 * still gets the response of its route.
 */
const MAX_HEADER_BYTES = 64 * 1024;
/**
 * How long a draining gateway still accepts new connections: a load balancer needs a moment to
 * notice `/readyz`.
 */
const DRAIN_GRACE_MS = 1_000;
const DRAIN_POLL_MS = 50;

/** The open connections of a server. */
const SOCKETS = new WeakMap<Server, Set<Socket>>();

/**
 * Express changes the prototypes of every request and response, which discards the engine's
 * optimisations for them: about 7 % of the gateway's own work on a request (measured). This server
 * therefore creates requests and responses with the prototypes that Express would give them.
 */
export function createHttpServer(app: Express): Server {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse<IncomingMessage> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as typeof app.request;
  app.response = AppResponse.prototype as typeof app.response;
  const server = createServer({
    IncomingMessage: AppRequest,
    ServerResponse: AppResponse,
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    highWaterMark: STREAM_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  server.on('clientError', answerMalformed);
  const sockets = new Set<Socket>();
  SOCKETS.set(server, sockets);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return server;
}

/**
 * Drains the server. First, every response closes its connection, so that callers reconnect
 * elsewhere between two requests, and never during one. Then no new connection is accepted, and the
 * requests in flight end.
 */
export async function drain(server: Server): Promise<void> {
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
  const graceEndsAt = performance.now() + DRAIN_GRACE_MS;
  while (performance.now() < graceEndsAt && (await countConnections(server)) > 0) await sleep(DRAIN_POLL_MS);
  const closed = once(server, 'close');
  server.close();
  const sweep = setInterval(() => closeUnusedConnections(server), DRAIN_POLL_MS);
  await closed;
  clearInterval(sweep);
}

/**
 * Closes also connections opened ahead of a first request, as load balancers and browsers do. Node
 * does not count such connections as idle, and nothing else closes them.
 */
function closeUnusedConnections(server: Server): void {
  server.closeIdleConnections();
  for (const socket of SOCKETS.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count ?? 0)));
}
