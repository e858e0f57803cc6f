/** The shape of a route of `/v1`: one value from which the handler, its checks and its documentation all follow. */

import type { ErrorCode, Refused } from '@laurel/errors';
import type { KeyUse } from '@laurel/proto/common';
import type { z } from 'zod';
import type { Principal } from '../domain/principal.ts';

/** A request that passed every check. */
export interface Call<Query, Body> {
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** See `verbatim` of the route. */
  readonly verbatim: Readonly<Record<string, string>>;
  /** Keys every downstream write; a retry of the request has the same one. Empty on a route without an idempotency key. */
  readonly operationId: string;
  /** For the owner of the operation, which records it (decision 23). Undefined on a route without an idempotency key. */
  readonly keyUse: KeyUse | undefined;
  readonly requestId: string;
}

/** The answer of an operation that an earlier request under the same key ran already: the owner found it, and this gateway had no record. */
export type Repeated = { readonly kind: 'repeated'; readonly body: string };

/** A route names the dependencies that it uses; code that only reads its other members takes a `V1Route<never>`. */
export interface V1Route<Dependencies, Query = unknown, Body = unknown> {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** Below `/v1`, as the contract writes it: `/attempts/{attempt_id}`. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** Object members of the body that are kept as the text that was sent, with the most bytes that each may have. */
  readonly verbatim?: Readonly<Record<string, number>>;
  /** When present, the route needs an `Idempotency-Key`, and this mints the id of the operation at its first use. */
  readonly mintOperationId?: (body: Body) => string;
  readonly success: { readonly status: 200 | 201; readonly description: string; readonly schema: z.ZodType };
  /** Every code that the route itself can answer, and why. */
  readonly refusals: Partial<Record<ErrorCode, string>>;
  /**
   * Answers the body of the success as JSON text; a long one in pieces, except on a route with an idempotency key: what is stored for replays
   * is one text. Throws when it cannot be determined whether the operation happened.
   */
  readonly run: (
    call: Call<Query, Body>,
    dependencies: Dependencies,
  ) => Promise<string | AsyncIterable<string> | Repeated | Refused>;
}

/** Lets a route be written with its own types, and listed with the others. */
export function defineRoute<Dependencies, Query, Body>(
  route: V1Route<Dependencies, Query, Body>,
): V1Route<Dependencies> {
  return route as unknown as V1Route<Dependencies>;
}
