/**
 * Begins the trace of a request, and decides for all services whether it is sampled. A trace
 * context that the caller sends is ignored: any API key holder could otherwise have each of its
 * requests recorded, and the operator cannot see the caller's traces anyway. The request id, which
 * both sides know, links the two.
 *
 * The span never contains the path, which carries a player's ref.
 */
import { HTTP_STATUS } from '@laurel/errors';
import { tracer } from '@laurel/telemetry';
import type { RequestHandler } from 'express';
import { contextOf } from './context.ts';
import { endStatusOf } from './request-id.ts';

export const traceRequest: RequestHandler = (request, response, next) => {
  if (tracer === undefined) return next();
  const { method } = request;
  const span = tracer.begin(method, { 'http.request.method': method });
  // This request has no trace. It must not run in the trace of an earlier request of its
  // connection.
  if (span === undefined) return tracer.outside(next);
  const context = contextOf(response);
  context.span = span;
  response.on('close', () => {
    const { errorCode, principal, requestId, routeTemplate } = context;
    const status = endStatusOf(response);
    span.rename(`${method} ${routeTemplate}`);
    span.set({
      'http.route': routeTemplate,
      'http.response.status_code': status,
      'laurel.request_id': requestId,
      ...(errorCode !== undefined && { 'laurel.error_code': errorCode }),
      ...(principal !== undefined && { 'laurel.program_id': principal.programId }),
    });
    // A refused request is not a failure of the gateway.
    span.end(status >= HTTP_STATUS.internal_error ? String(status) : undefined);
  });
  span.run(next);
};
