/** Runs the routes under `/api`: checks a request by the route's schemas, answers, and logs what was changed. */
import { isRefused, type Refused, refused } from '@laurel/errors';
import type { Logger } from '@laurel/service';
import type { Request, RequestHandler, Response, Router } from 'express';
import type { z } from 'zod';
import { sendEmpty, sendJson, sendRefusal } from '../http/answer.ts';
import { contextOf, type RequestContext } from '../http/context.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { validationIssuesOf } from '../http/validation-issues.ts';
import type { Answer, ApiRoute, Handle } from './api-route.ts';

/** Serves the routes of an area; `handlerOf` makes the handler of each around the handle that runs it. */
export function mountRoutes<Caller, Dependencies>(
  router: Router,
  routes: readonly ApiRoute<Caller, Dependencies>[],
  options: {
    readonly dependencies: Dependencies;
    readonly callerOf: (request: Request) => Caller;
    readonly handlerOf: (route: ApiRoute<Caller, Dependencies>, handle: Handle) => RequestHandler;
  },
): void {
  const { dependencies, callerOf, handlerOf } = options;
  for (const route of routes) {
    const handle = handleOf(route, dependencies, callerOf);
    router[route.method](route.path.replace(/\{(\w+)\}/g, ':$1'), handlerOf(route, handle));
  }
}

/** Checks the request, runs the route, and gives its answer the status of the route's success. */
export function handleOf<Caller, Dependencies>(
  route: ApiRoute<Caller, Dependencies>,
  dependencies: Dependencies,
  callerOf: (request: Request) => Caller,
): Handle {
  return async (request) => {
    const input = inputOf(route, request);
    if (isRefused(input)) return input;
    const call = { caller: callerOf(request), ...input, options: callOptions(request) };
    const result = await route.run(call, dependencies);
    return isRefused(result) || 'status' in result ? result : { ...result, status: route.success.status };
  };
}

/** A route that changes nothing, or that logs on its own. */
export function route(handle: Handle): RequestHandler {
  return async (request, response) => {
    recordTemplate(request);
    send(response, await handle(request));
  };
}

/** A route that changes something: each use writes one line to the process's log before it is answered, also when it fails. */
export function change(
  { logger }: { readonly logger: Logger },
  actor: 'operator' | 'developer',
  action: string,
  handle: Handle,
): RequestHandler {
  return async (request, response) => {
    recordTemplate(request);
    const log = (result: string, details: object = {}) => {
      const { requestId, session, operator } = context(request);
      const who = { actor, operator, developerId: session?.developerId };
      logger.info({ ...who, action, result, ...request.params, ...details, requestId }, `${actor} action`);
    };
    let answer: Answer | Refused;
    try {
      answer = await handle(request);
    } catch (error) {
      // The change may have happened all the same.
      log('failed');
      throw error;
    }
    if (isRefused(answer)) log(answer.code);
    else log('done', { ...idOf(answer.body), ...answer.logged });
    send(response, answer);
  };
}

/** The options of every call to another service. */
export function callOptions(request: Request): { requestId: string } {
  return { requestId: context(request).requestId };
}

/** A field that is absent only because of a bug. */
export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('what must be there is not');
  return value;
}

interface Input {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly verbatim: Readonly<Record<string, string>>;
}

const NOTHING_VERBATIM: Readonly<Record<string, string>> = {};

/** `invalid_request` comes before `not_found`, as everywhere. */
function inputOf(route: ApiRoute<never, never>, request: Request): Input | Refused {
  const query = route.query === undefined ? undefined : check(route.query, request.query);
  if (isRefused(query)) return query;
  const parsed =
    route.body === undefined
      ? { body: undefined, verbatim: NOTHING_VERBATIM }
      : parsedBodyOf(route.body, request, route.verbatim);
  if (isRefused(parsed)) return parsed;
  const params = route.params?.safeParse(request.params);
  if (params?.success === false) return refused('not_found');
  return { params: params?.data, query, ...parsed };
}

/** The body by its schema, or `invalid_request`. */
export function bodyOf<Output>(schema: z.ZodType<Output>, request: Request): Output | Refused {
  const parsed = parsedBodyOf(schema, request);
  return isRefused(parsed) ? parsed : parsed.body;
}

function parsedBodyOf<Output>(schema: z.ZodType<Output>, request: Request, verbatimNames: readonly string[] = []) {
  const json = parseJsonBody(request, context(request), verbatimNames);
  if (json.kind === 'invalid') return refused('invalid_request', json.message);
  const body = check(schema, json.value);
  return isRefused(body) ? body : { body, verbatim: json.verbatim };
}

function check<Output>(schema: z.ZodType<Output>, value: unknown): Output | Refused {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = validationIssuesOf(result.error).map(({ field, message }) =>
    [field, message].filter(Boolean).join(': '),
  );
  return refused('invalid_request', issues.join('; '));
}

function context(request: Request): RequestContext {
  return contextOf(present(request.res));
}

/** For the log and the metrics: `/api/operator/programs/{programId}`. */
function recordTemplate(request: Request): void {
  context(request).routeTemplate = request.baseUrl + String(request.route.path).replace(/:(\w+)/g, '{$1}');
}

function idOf(body: object | undefined): object {
  return body !== undefined && 'id' in body ? { id: body.id } : {};
}

function send(response: Response, answer: Answer | Refused): void {
  if (isRefused(answer)) {
    sendRefusal(response, answer);
    return;
  }
  const { status, body, json, headers } = answer;
  if (json !== undefined) sendJson(response, status, json, headers);
  else if (body !== undefined) sendJson(response, status, JSON.stringify(body), headers);
  else sendEmpty(response, status, headers);
}
