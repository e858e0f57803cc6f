/** What every route under `/api` shares: how it reads a request, answers, and is logged. */
import { isRefused, type Refused, refused } from '@laurel/errors';
import { isUuid } from '@laurel/ids';
import type { Tenant } from '@laurel/proto/common';
import type { Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import type { Dependencies } from '../dependencies.ts';
import { sendJson, sendRefusal } from '../middleware/answer.ts';
import { contextOf, type RequestContext, type Session } from '../middleware/context.ts';
import { parseJsonBody } from '../middleware/json-body.ts';

/** What a route answers, unless it refuses. */
export type Answer = {
  readonly status: number;
  /** Sent as JSON. */
  readonly body?: object;
  /** JSON text, sent as it is. */
  readonly json?: string;
  /** Beyond those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a mutation changed, for its log line: no e-mail, no key, no password. */
  readonly logged?: object;
};

type Handle = (request: Request) => Promise<Answer | Refused>;

/** A route that changes nothing, or nothing of an operator's. */
export function route(handle: Handle): RequestHandler {
  return async (request, response) => {
    recordTemplate(request);
    send(response, await handle(request));
  };
}

/** A route by which an operator changes something: each use leaves one line in the log, whatever became of it, before it is answered. */
export function mutation(deps: Dependencies, action: string, handle: Handle): RequestHandler {
  return logged(deps, 'operator', action, handle);
}

/** The same of a developer, who is named in it. */
export function developerMutation(deps: Dependencies, action: string, handle: Handle): RequestHandler {
  return logged(deps, 'developer', action, handle);
}

function logged(deps: Dependencies, actor: 'operator' | 'developer', action: string, handle: Handle): RequestHandler {
  return async (request, response) => {
    recordTemplate(request);
    const log = (result: string, details: object = {}) => {
      const { requestId, session } = context(request);
      const who = { actor, developerId: session?.developerId };
      deps.logger.info({ ...who, action, result, ...request.params, ...details, requestId }, `${actor} action`);
    };
    let answer: Answer | Refused;
    try {
      answer = await handle(request);
    } catch (error) {
      // It may have happened all the same.
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

/** Whose key a sandbox request carries; admission has put it there. */
export function tenantOf(request: Request): Tenant {
  return present(context(request).principal).tenant;
}

/** Whose session a request of the portal carries; the portal's door has put it there. */
export function sessionOf(request: Request): Session {
  return present(context(request).session);
}

/** A uuid in the path, in lower case; null when it is none, so that the route answers `not_found`. */
export function pathId(request: Request, name: string): string | null {
  const text = request.params[name];
  return typeof text === 'string' && isUuid(text) ? text.toLowerCase() : null;
}

export function notFound(): Refused {
  return refused('not_found');
}

/** The body by its schema, or `invalid_request`. */
export function parseBody<Schema extends z.ZodType>(request: Request, schema: Schema): z.output<Schema> | Refused {
  const json = parseJsonBody(request, context(request));
  return json.kind === 'parsed' ? check(schema, json.value) : refused('invalid_request', json.message);
}

/** The query by its schema, or `invalid_request`. */
export function parseQuery<Schema extends z.ZodType>(request: Request, schema: Schema): z.output<Schema> | Refused {
  return check(schema, request.query);
}

/** What is there in every case but a bug. */
export function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('what must be there is not');
  return value;
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> | Refused {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => [issue.path.join('.'), issue.message].filter(Boolean).join(': '));
  return refused('invalid_request', faults.join('; '));
}

function context(request: Request): RequestContext {
  return contextOf(request.res as Response);
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
  else response.writeHead(status, { 'X-Request-Id': contextOf(response).requestId, ...headers }).end();
}
