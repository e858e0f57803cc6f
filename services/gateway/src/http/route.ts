/**
 * The shape of every route, of `/v1` and of `/api` alike: one value, from which its handler, its
 * checks and its documentation all follow. An `ApiArea` states what its routes have in common.
 */
import type { ApiErrorCode, Refused } from '@laurel/errors';
import type { KeyUse } from '@laurel/proto/common';
import type { Request } from 'express';
import type { z } from 'zod';
import { REPLAY_HEADERS } from '../domain/replay-header.ts';
import type { tooManyRequests } from './answer.ts';
import type { RequestContext } from './context.ts';

/** What the routes of an area have in common. */
export interface ApiArea {
  /** The prefix of each route's path. */
  readonly prefix: string;
  /**
   * Whether query parameters that the route does not declare are ignored, or refused with a 400.
   */
  readonly unknownParameters: 'ignored' | 'refused';
  /** Where a 400 lists the issues of an input: in `details.issues`, or in the message. */
  readonly listsIssuesIn: 'details' | 'message';
}

export const V1_AREA: ApiArea = { prefix: '/v1', unknownParameters: 'ignored', listsIssuesIn: 'details' };

export function apiArea(name: 'operator' | 'portal' | 'sandbox'): ApiArea {
  return { prefix: `/api/${name}`, unknownParameters: 'refused', listsIssuesIn: 'message' };
}

/** A request that passed every check. */
export interface Call<Caller, Params, Query, Body> {
  /**
   * The caller as the area's admission identified it: a key's principal, a developer's session, an
   * operator.
   */
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The members that the route lists in `verbatim`, each as the text that was sent. */
  readonly verbatim: Readonly<Record<string, string>>;
  /**
   * The id under which every downstream write of the request happens; a retry of the request gets
   * the same id. Empty on a route without an idempotency key.
   */
  readonly operationId: string;
  /**
   * The use of the idempotency key, for the contest service, which records the key with the
   * operation (decision 23). Undefined on a route without an idempotency key.
   */
  readonly keyUse: KeyUse | undefined;
  /** The options of every call to another service. */
  readonly options: { readonly requestId: string };
}

/** A response that is more than JSON text. Its status is that of the route's success. */
export interface Result {
  /** The body of the response, which is sent as JSON. */
  readonly body?: object;
  /** The body of the response as JSON text, which is sent unchanged. */
  readonly json?: string;
  /** The headers that are sent in addition to those of every response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a change did, for its log line. Contains no e-mail, key or password. */
  readonly logged?: object;
}

/**
 * What a route returns: JSON text, in pieces if it is long; a result; or a refusal. A route with an
 * idempotency key returns no pieces, because replays store one text.
 */
export type Answer = string | AsyncIterable<string> | Result | ReturnType<typeof tooManyRequests> | Refused;

/**
 * The response to an operation that an earlier request under the same key already ran: the contest
 * service found the operation, and this gateway had no record.
 */
export function replayedResult(json: string): Result {
  return { json, headers: REPLAY_HEADERS };
}

/**
 * How the log of operator actions records a change, in addition to its name (`operator-log.ts`).
 */
export interface Recording<Dependencies, Body> {
  /** The kind of resource that the route creates, whose id is in its response. */
  readonly creates?: string;
  /** The only members of the body that are recorded; all of them if absent. */
  readonly records?: readonly string[];
  /**
   * Reads the resource that the route changes, if that is not the subject in its path. `body` is
   * undefined while it is not valid.
   */
  readonly reads?: (
    request: {
      readonly subjectId: string | null;
      readonly body: Body | undefined;
      readonly options: { readonly requestId: string };
    },
    dependencies: Dependencies,
  ) => Promise<object | null>;
}

/**
 * A route names the dependencies that it uses. Code that only reads its other members takes a
 * `Route<never, never>`.
 */
export interface Route<
  Caller,
  Dependencies,
  Code extends ApiErrorCode = ApiErrorCode,
  Params = unknown,
  Query = unknown,
  Body = unknown,
> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /**
   * The path below the area's prefix, such as `/programs/{programId}`. The first parameter names
   * the subject of an operator's action.
   */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /**
   * Invalid parameters are `not_found`. They are checked last: an invalid query or body is
   * `invalid_request` first. Without a schema the route gets them in lower case, like every id.
   */
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** If true, a request without a body counts as one with an empty object. */
  readonly isBodyOptional?: boolean;
  /**
   * Members of the body that are kept as the text that was sent, with the most bytes that each may
   * have.
   */
  readonly verbatim?: Readonly<Record<string, number>>;
  /**
   * If present, the route needs an `Idempotency-Key`, and this function makes the id of the
   * operation when a key is first used.
   */
  readonly mintOperationId?: (body: Body) => string;
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    /** The schema of the body; absent for a response without a body. */
    readonly schema?: z.ZodType;
  };
  /**
   * Every code that the route itself can return, and why. The documents add the codes that follow
   * from its schemas and its area.
   */
  readonly refusals?: Partial<Record<Code, string>>;
  /**
   * Present on a change under `/api`: its name in the process's log and in the log of operator
   * actions.
   */
  readonly action?: string;
  readonly recording?: Recording<Dependencies, Body>;
  /** Runs the route. Throws if it cannot be determined whether the operation happened. */
  readonly run: (call: Call<Caller, Params, Query, Body>, dependencies: Dependencies) => Promise<Answer>;
}

/** A route with any callers and dependencies, for code that reads routes and does not run them. */
export type AnyRoute = Omit<Route<never, never>, 'run' | 'recording'>;

/** Lets the routes of an area be written with their own types, and listed with the others. */
export function defineFor<Caller, Code extends ApiErrorCode = ApiErrorCode>() {
  return <Dependencies, Params = Readonly<Record<string, string>>, Query = unknown, Body = unknown>(
    route: Route<Caller, Dependencies, Code, Params, Query, Body>,
  ): Route<Caller, Dependencies, Code> => route as unknown as Route<Caller, Dependencies, Code>;
}

/**
 * Runs a route on a request. If the route is a change that the log of actions records, also records
 * the action.
 */
export type Handle = (request: Request, context: RequestContext) => Answer | Promise<Answer>;
