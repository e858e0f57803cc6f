/**
 * The end of a request that no route answered: an unknown path, or a failure of the gateway, whose
 * response reveals nothing.
 */

import type { Duplex } from 'node:stream';
import { ItemDeadlineError, QueueFullError } from '@laurel/coalesce';
import { DEFAULT_MESSAGE } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';
import { UnavailableError } from '@laurel/grpc';
import type { Logger } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { KnownPaths } from '../domain/known-paths.ts';
import { sendError } from './answer.ts';
import { contextOf } from './context.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import { ShedError } from './shed-error.ts';

/**
 * Requests that are shed on purpose, perhaps thousands a second. Their errors are not logged: the
 * log line of the request and the metrics show enough.
 */
const SHED_ERRORS = [QueueFullError, ItemDeadlineError, UnavailableError, ShedError];

/**
 * The response below the gateway's prefixes if no route matched: an unknown path, or a method that
 * the path does not take.
 */
export const answerNotFound: RequestHandler = (_request, response) =>
  sendError(response, 'not_found', 'Nothing is served at this path with this method.');

/**
 * The same response below a prefix whose routes are known. Its message distinguishes an unknown
 * path from an unknown method, and lists the methods of the path.
 */
export function answerNoRoute(routes: readonly { readonly method: string; readonly path: string }[]): RequestHandler {
  const known = new KnownPaths(routes);
  return (request, response) => {
    const methods = known.methodsOf(request.path);
    if (methods.length === 0) return sendError(response, 'not_found', 'There is no such path.');
    const allowed = methods.join(', ');
    response.setHeader('Allow', allowed);
    sendError(response, 'not_found', `The path does not take ${request.method}; it takes ${allowed}.`);
  };
}

/**
 * Handles a path that the router cannot decode as an unknown path, because no resource can have
 * such a path.
 */
export const ignoreUndecodablePath: ErrorRequestHandler = (error: unknown, _request, _response, next) => {
  next(isUndecodablePath(error) ? undefined : error);
};

export function answerFailures(logger: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    // An injected fault: the response is lost in transit.
    if (error instanceof LostReplyError) return void response.destroy();
    if (isUndecodablePath(error)) return sendError(response, 'not_found');
    const { requestId, routeTemplate } = contextOf(response);
    if (SHED_ERRORS.some((kind) => error instanceof kind)) {
      logger.debug({ err: error, requestId, route: routeTemplate }, 'request shed');
    } else {
      logger.error({ err: error, requestId, route: routeTemplate }, 'request failed');
    }
    // Once the response has begun, no error can be sent.
    if (response.headersSent) return void response.destroy();
    sendError(response, 'internal_error');
  };
}

function isUndecodablePath(error: unknown): boolean {
  return error instanceof URIError || (error as { status?: unknown } | null)?.status === 400;
}

const MALFORMED = JSON.stringify({ error: { code: 'invalid_request', message: DEFAULT_MESSAGE.invalid_request } });
/**
 * How long the connection stays open for the caller to read the response. If it were closed while
 * bytes of the caller are unread, the caller would get a reset instead of the response.
 */
const LINGER_MS = 1_000;
const answeredSockets = new WeakSet<Duplex>();

/**
 * Answers bytes that are not an HTTP request, headers that do not end, and requests that take too
 * long. No route ever receives any of these.
 */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  // The response was sent already. What the caller still sends is malformed too, and is discarded
  // until the connection ends.
  if (answeredSockets.has(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  answeredSockets.add(socket);
  const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(linger));
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(MALFORMED)}`,
      ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
      `X-Request-Id: ${newId()}`,
      'Connection: close',
      '',
      MALFORMED,
    ].join('\r\n'),
  );
}
