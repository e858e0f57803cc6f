/** What ends a request that no route answered: an unknown path, or a failure of ours. Nothing of the failure is told. */

import type { Duplex } from 'node:stream';
import { ItemDeadlineError, QueueFullError } from '@laurel/coalesce';
import { DEFAULT_MESSAGE } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';
import { UnavailableError } from '@laurel/grpc';
import { newId } from '@laurel/ids';
import type { Logger } from '@laurel/service';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { sendError } from './answer.ts';
import { contextOf } from './context.ts';

/** Ends on purpose, perhaps thousands of times a second: the request line and the metrics tell enough of them. */
const SHED = [QueueFullError, ItemDeadlineError, UnavailableError];

/** An unknown path, or a method that the path does not have. */
export const answerNotFound: RequestHandler = (_request, response) => sendError(response, 'not_found');

/** A path that the router cannot decode is one that no resource has: it goes on as such. */
export const forgetUndecodablePath: ErrorRequestHandler = (error: unknown, _request, _response, next) => {
  next(isUndecodablePath(error) ? undefined : error);
};

export function answerFailures(logger: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    // A fault that tests inject: the answer is lost on its way.
    if (error instanceof LostReplyError) return void response.destroy();
    if (isUndecodablePath(error)) return sendError(response, 'not_found');
    const { requestId, routeTemplate } = contextOf(response);
    if (SHED.some((kind) => error instanceof kind)) {
      logger.debug({ err: error, requestId, route: routeTemplate }, 'request shed');
    } else {
      logger.error({ err: error, requestId, route: routeTemplate }, 'request failed');
    }
    // After the answer began there is nothing left to say.
    if (response.headersSent) return void response.destroy();
    sendError(response, 'internal_error');
  };
}

function isUndecodablePath(error: unknown): boolean {
  return error instanceof URIError || (error as { status?: unknown } | null)?.status === 400;
}

const MALFORMED = JSON.stringify({ error: { code: 'invalid_request', message: DEFAULT_MESSAGE.invalid_request } });

/** Bytes that are no HTTP request, headers without end, or a request that takes too long: no route ever sees it. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(MALFORMED)}`,
      `X-Request-Id: ${newId()}`,
      'Connection: close',
      '',
      MALFORMED,
    ].join('\r\n'),
  );
}
