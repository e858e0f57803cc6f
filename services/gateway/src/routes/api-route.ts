/** The shape of a route under `/api`: one value from which its handler, its checks and its documentation all follow. */
import type { ApiErrorCode, Refused } from '@laurel/errors';
import type { Request } from 'express';
import type { z } from 'zod';
import type { tooManyRequests } from '../http/answer.ts';

/** A request that passed every check. */
export interface ApiCall<Caller, Params, Query, Body> {
  /** As the area's admission identified it: a program and environment, a developer's session, an operator. */
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** See `verbatim` of the route. */
  readonly verbatim: Readonly<Record<string, string>>;
  /** The options of every call to another service. */
  readonly options: { readonly requestId: string };
}

/** The answer of a route, unless it refuses; its status is that of the route's success. */
export interface Result {
  /** Sent as JSON. */
  readonly body?: object;
  /** JSON text, sent as it is. */
  readonly json?: string;
  /** In addition to the headers that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a change did, for its log line: no e-mail, no key, no password. */
  readonly logged?: object;
}

/** How the log of operator actions records a change, beyond its name (`operator-log.ts`). */
export interface Recording<Dependencies, Body> {
  /** The kind of the thing that it makes, whose id is in its answer. */
  readonly creates?: string;
  /** The only members of its body that are recorded; all of them when absent. */
  readonly records?: readonly string[];
  /** Reads what it changes, where that is not the subject in its path; the body is undefined while it is not valid. */
  readonly reads?: (
    request: {
      readonly subjectId: string | null;
      readonly body: Body | undefined;
      readonly options: { readonly requestId: string };
    },
    dependencies: Dependencies,
  ) => Promise<object | null>;
}

/** A route names the dependencies that it uses. */
export interface ApiRoute<Caller, Dependencies, Params = unknown, Query = unknown, Body = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below its area's prefix: `/programs/{programId}`. The first parameter names the subject of an operator's action. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** Parameters that do not fit are `not_found`. Checked last: a query or a body that does not fit is `invalid_request` before. */
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** Members of the body that are kept as the text that was sent. */
  readonly verbatim?: readonly string[];
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    /** Absent for an answer without a body. */
    readonly schema?: z.ZodType;
  };
  /** Every code that the route itself can answer, and why; what follows from its schemas and its area is added. */
  readonly refusals?: Partial<Record<ApiErrorCode, string>>;
  /** Present on a change: its name in the process's log, and in the log of operator actions. */
  readonly action?: string;
  readonly recording?: Recording<Dependencies, Body>;
  /** Throws when it cannot be determined whether the operation happened. */
  readonly run: (
    call: ApiCall<Caller, Params, Query, Body>,
    dependencies: Dependencies,
  ) => Promise<Result | ReturnType<typeof tooManyRequests> | Refused>;
}

/** Lets the routes of an area be written with their own types, and listed with the others. */
export function defineFor<Caller>() {
  return <Dependencies, Params, Query, Body>(
    route: ApiRoute<Caller, Dependencies, Params, Query, Body>,
  ): ApiRoute<Caller, Dependencies> => route as unknown as ApiRoute<Caller, Dependencies>;
}

/** An answer with its status. */
export interface Answer extends Result {
  readonly status: number;
}
export type Handle = (request: Request) => Promise<Answer | Refused>;
