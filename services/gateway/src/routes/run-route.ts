/**
 * Runs every route: passes it the checked input, ends the lock of its idempotency key with the
 * result, logs what it changed, and only then responds.
 */
import { type ApiErrorCode, isRefused, type Refused } from '@laurel/errors';
import type { KeyUse as KeyUseMessage } from '@laurel/proto/common';
import type { Clock, Logger } from '@laurel/service';
import type { Request, RequestHandler, Response, Router } from 'express';
import { failpoint } from '../failpoints.ts';
import { sendEmpty, sendJson, sendJsonPieces, sendRefusal } from '../http/answer.ts';
import { contextOf, type RequestContext } from '../http/context.ts';
import type { Answer, AnyRoute, ApiArea, Handle, Route } from '../http/route.ts';
import { type InputCheck, inputCheckOf } from '../http/validate.ts';
import type { Idempotency } from '../idempotency/idempotency.ts';
import type { IdempotencyLock, IdempotencyUse } from '../repository/idempotency-records.ts';

/**
 * What is needed to end the use of an idempotency key. Only an area whose routes may need such a
 * key provides it.
 */
export interface KeyEnd {
  readonly idempotency: Idempotency;
  readonly clock: Clock;
}

/**
 * Where a change writes its log line. It writes one line for each request, before the response,
 * even if the change fails.
 */
export interface ChangeLogging {
  readonly logger: Logger;
  readonly actor: 'operator' | 'developer';
}

/** Serves the routes of an area, each with the handlers made for it. */
export function mountRoutes<Mounted extends AnyRoute>(
  router: Router,
  routes: readonly Mounted[],
  handlersOf: (route: Mounted) => RequestHandler | RequestHandler[],
): void {
  for (const route of routes) {
    router[route.method](route.path.replace(/\{(\w+)\}/g, ':$1'), handlersOf(route));
  }
}

/** Checks the request, and runs the route. */
export function handleOf<Caller, Dependencies, Code extends ApiErrorCode>(
  route: Route<Caller, Dependencies, Code>,
  dependencies: Dependencies,
  options: {
    readonly area: ApiArea;
    readonly callerOf: (context: RequestContext, request: Request) => Caller;
    /**
     * The input check that an earlier handler of this route already uses. By default the route gets
     * its own check.
     */
    readonly check?: InputCheck;
    readonly keys?: KeyEnd;
  },
): Handle {
  const { area, callerOf, check = inputCheckOf(route, area), keys } = options;
  return (request, context) => {
    const checked = check(request, context);
    if (checked.kind === 'invalid') return checked.refusal;
    const { params, query, body, verbatim } = checked.input;
    const { idempotencyLock, idempotencyUse, requestId } = context;
    const call = {
      caller: callerOf(context, request),
      params,
      query,
      body,
      verbatim,
      operationId: idempotencyLock?.operationId ?? '',
      keyUse: keys === undefined ? undefined : keyUseMessageOf(idempotencyLock, idempotencyUse, keys.clock),
      options: { requestId },
    };
    return route.run(call, dependencies);
  };
}

/** Wraps the handle of a route in an Express handler. */
export function runRoute(
  route: AnyRoute,
  handle: Handle,
  { area, keys, changes }: { readonly area: ApiArea; readonly keys?: KeyEnd; readonly changes?: ChangeLogging },
): RequestHandler {
  const template = `${area.prefix}${route.path}`;
  const log = changes && route.action !== undefined ? changeLogger(changes, route.action) : undefined;

  return async (request, response) => {
    const context = contextOf(response);
    context.routeTemplate = template;
    const { idempotencyLock } = context;
    let answer: Answer;
    try {
      answer = await handle(request, context);
    } catch (error) {
      // The operation may have happened nevertheless.
      if (idempotencyLock !== undefined) await keys?.idempotency.release(idempotencyLock);
      log?.(request, context, 'failed');
      throw error;
    }
    if (isRefused(answer)) {
      if (idempotencyLock !== undefined) await keys?.idempotency.forget(idempotencyLock);
      log?.(request, context, answer.code);
      return sendRefusal(response, answer);
    }
    const status = statusOf(route, answer);
    if (isInPieces(answer)) {
      if (idempotencyLock !== undefined) throw new Error('a route with an idempotency key must answer one text');
      return sendJsonPieces(response, status, answer);
    }
    log?.(request, context, 'done', answer);
    const body = textOf(answer);
    const headers = typeof answer === 'string' ? undefined : answer.headers;
    if (keys === undefined) return send(response, status, body, headers);
    const { idempotencyUse } = context;
    if (idempotencyLock !== undefined && idempotencyUse !== undefined) {
      if (body === undefined) throw new Error('a route with an idempotency key must answer one text');
      await keys.idempotency.complete({ idempotencyLock, fingerprint: idempotencyUse.fingerprint, status, body });
    }
    await failpoint('gateway.reply.before-send');
    send(response, status, body, headers);
    await failpoint('gateway.reply.after-send');
  };
}

/** An answer that is not a refusal. */
type AcceptedAnswer = Exclude<Answer, Refused>;
/** An accepted answer whose body is one text or absent, not in pieces. */
type WholeAnswer = Exclude<AcceptedAnswer, AsyncIterable<string>>;

/** The status of the route's success, unless the route limited the call. */
export function statusOf(route: AnyRoute, answer: AcceptedAnswer): number {
  return typeof answer === 'object' && 'status' in answer ? answer.status : route.success.status;
}

/** The text of an answer's body; undefined for an answer without a body. */
export function textOf(answer: WholeAnswer): string | undefined {
  if (typeof answer === 'string') return answer;
  if ('json' in answer) return answer.json;
  return answer.body === undefined ? undefined : JSON.stringify(answer.body);
}

export function isInPieces(answer: AcceptedAnswer): answer is AsyncIterable<string> {
  return typeof answer === 'object' && Symbol.asyncIterator in answer;
}

/** Returns a field that only a bug leaves absent. */
export function defined<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a value that must be present is missing');
  return value;
}

/** The use of the idempotency key, as the contest service records it. */
function keyUseMessageOf(
  idempotencyLock: IdempotencyLock | undefined,
  use: IdempotencyUse | undefined,
  clock: Clock,
): KeyUseMessage | undefined {
  if (idempotencyLock === undefined || use === undefined) return undefined;
  return {
    keyId: idempotencyLock.recordId,
    fingerprint: Buffer.from(use.fingerprint, 'hex'),
    // Every later use of the key finds the record of the first use, and raises its generation
    // before it runs.
    isFirst: idempotencyLock.generation === 0,
    usedAt: clock(),
  };
}

function changeLogger({ logger, actor }: ChangeLogging, action: string) {
  return (request: Request, context: RequestContext, result: string, answer?: WholeAnswer): void => {
    const { requestId, session, operator } = context;
    const who = { actor, operator, developerId: session?.developerId };
    const line = { ...who, action, result, ...request.params, ...detailsOf(answer), requestId };
    logger.info(line, `${actor} action`);
  };
}

/** The fields of the log line: the id of what a change created or changed, and its own details. */
function detailsOf(answer: WholeAnswer | undefined): object {
  if (answer === undefined || typeof answer === 'string' || 'status' in answer) return {};
  const { body, logged } = answer;
  return { ...(body !== undefined && 'id' in body && { id: body.id }), ...logged };
}

function send(
  response: Response,
  status: number,
  body: string | undefined,
  headers?: Readonly<Record<string, string>>,
): void {
  if (body === undefined) sendEmpty(response, status, headers);
  else sendJson(response, status, body, headers);
}
