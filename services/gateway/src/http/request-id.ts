/**
 * Opens a request with its id and start time. Closes it with one log line and one observation,
 * whichever handler answered; a request of `/v1` with a valid API key is also written to the
 * request log.
 */
import { HTTP_STATUS } from '@laurel/errors';
import type { Logger } from '@laurel/service';
import { histogram } from '@laurel/telemetry';
import { newId } from '@laurel/values/ids';
import type { Request, RequestHandler, Response } from 'express';
import type { RequestLog } from '../request-log/request-log.ts';
import { contextOf, openContext, RequestContext } from './context.ts';

const SECOND_MS = 1_000;
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/**
 * The status, customary since nginx, of a request whose caller disconnected before the response.
 */
const CALLER_LEFT_STATUS = 499;

export function assignRequestId(logger: Logger, requestLog: RequestLog | undefined): RequestHandler {
  const observe = createObserver();
  const isLogging = logger.isLevelEnabled('info');

  return (request, response, next) => {
    openContext(response, new RequestContext(newId(), performance.now()));
    response.on('close', () => {
      const context = contextOf(response);
      const status = endStatusOf(response);
      const durationMs = performance.now() - context.startedAt;
      observe(context.routeTemplate, status, context.environment, durationMs / SECOND_MS);
      if (requestLog !== undefined && context.principal !== undefined && request.originalUrl.startsWith('/v1/')) {
        addToLog(requestLog, request, context, { status, durationMs });
      }
      if (!isLogging || context.isProbe) return;
      logger.info({
        method: request.method,
        route: context.routeTemplate,
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        requestId: context.requestId,
        traceId: context.span?.traceId,
        programId: context.principal?.programId,
        // The API key's id: after a leak it finds the requests made with the revoked key
        // (docs/operations/leaked-key.md).
        keyId: context.principal?.apiKeyId,
      });
    });
    next();
  };
}

/** Adds the request to the request log. Its bodies are those that are in memory anyway. */
function addToLog(
  log: RequestLog,
  request: Request,
  context: RequestContext,
  { status, durationMs }: { readonly status: number; readonly durationMs: number },
): void {
  const { principal, requestId, routeTemplate, errorCode, isReplayed, rawBody, responseBody } = context;
  if (principal === undefined) return;
  const idempotencyKey = request.headers['idempotency-key'];
  log.add({
    requestId,
    principal,
    method: request.method,
    url: request.originalUrl,
    route: routeTemplate,
    pattern: request.route?.path,
    status,
    errorCode,
    durationMs,
    idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
    isReplayed,
    userAgent: request.headers['user-agent'],
    requestBody: rawBody,
    responseBody,
  });
}

/**
 * The status with which the request ended. A response that the gateway broke off after its first
 * byte is a failure of the gateway, whatever its status line said.
 */
export function endStatusOf(response: Response): number {
  if (response.writableFinished) return response.statusCode;
  return response.errored ? HTTP_STATUS.internal_error : CALLER_LEFT_STATUS;
}

/**
 * Caches one metric child per label set: hashing the labels each time would cost more than the
 * observation.
 */
function createObserver(): (
  route: string,
  status: number,
  environment: RequestContext['environment'],
  seconds: number,
) => void {
  const requests = histogram(
    'laurel_http_request_duration_seconds',
    'Time from the arrival of a request to the end of its answer, by environment of what authenticated it.',
    DURATION_BUCKETS_SECONDS,
    ['route', 'status', 'environment'],
  );
  type Child = { observe(seconds: number): void };
  type ByRoute = Map<string, Map<number, Child>>;
  const children: Record<RequestContext['environment'], ByRoute> = {
    live: new Map(),
    test: new Map(),
    none: new Map(),
  };
  return (route, status, environment, seconds) => {
    const byRoute = children[environment];
    let byStatus = byRoute.get(route);
    if (byStatus === undefined) {
      byStatus = new Map();
      byRoute.set(route, byStatus);
    }
    let child = byStatus.get(status);
    if (child === undefined) {
      child = requests.labels(route, String(status), environment);
      byStatus.set(status, child);
    }
    child.observe(seconds);
  };
}
