/** What a route of `/v1` is: one value from which the handler, its checks and its documentation all follow. */
import type { ErrorCode, Refused } from '@laurel/errors';
import type { z } from 'zod';
import type { HotCalls } from '../../clients/hot-calls.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Principal } from '../../middleware/admission.ts';

export interface V1Dependencies extends Dependencies {
  readonly hotCalls: HotCalls;
}

/** A request that passed every check. */
export interface Call<Query, Body> {
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** See `verbatim` of the route. */
  readonly verbatim: Readonly<Record<string, string>>;
  /** Keys every downstream write; a retry of the request has the same. Empty on a route without an idempotency key. */
  readonly operationId: string;
  readonly requestId: string;
}

export interface V1Route<Query = unknown, Body = unknown> {
  readonly method: 'get' | 'post';
  /** Below `/v1`, as the contract writes it: `/attempts/{attempt_id}`. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** Object members of the body that are kept as the text that was sent, with the most bytes that each may have. */
  readonly verbatim?: Readonly<Record<string, number>>;
  /** Present: the route needs an `Idempotency-Key`, and this mints the id of the operation at its first use. */
  readonly mintOperationId?: (body: Body) => string;
  readonly success: { readonly status: 200 | 201; readonly description: string; readonly schema: z.ZodType };
  /** Every code that the route itself can answer, and why. */
  readonly refusals: Partial<Record<ErrorCode, string>>;
  /**
   * Answers the body of the success as JSON text; a long one in pieces, which a route with an idempotency key may not: what is stored
   * for replays is one text. Throws when it cannot be known whether the operation happened.
   */
  readonly run: (
    call: Call<Query, Body>,
    dependencies: V1Dependencies,
  ) => Promise<string | AsyncIterable<string> | Refused>;
}

/** Lets a route be written with its own types, and listed with the others. */
export function defineRoute<Query, Body>(route: V1Route<Query, Body>): V1Route {
  return route as unknown as V1Route;
}
