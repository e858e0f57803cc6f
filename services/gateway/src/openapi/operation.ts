/**
 * Turns a route into an operation of a document: the route's schemas and refusals, and what its
 * area adds.
 */
import type { RouteConfig } from '@asteasolutions/zod-to-openapi';
import type { ApiErrorCode } from '@laurel/errors';
import { REPLAY_HEADER } from '../domain/replay-header.ts';
import type { AnyRoute, ApiArea } from '../http/route.ts';
import { objectOf, z } from '../http/zod.ts';
import { RATE_LIMIT_EXAMPLES } from './examples/errors.ts';
import type { Examples, RouteExamples } from './examples/example.ts';
import { COMMON_HEADERS, headersNamed } from './headers.ts';
import { errorResponses, jsonContent, limitedResponse } from './responses.ts';

export type Refusals = Partial<Record<ApiErrorCode, string>>;

/** What a document adds to a route. */
export interface DocumentContext {
  readonly area: ApiArea;
  readonly tag: string;
  /**
   * Each scheme alone is enough; empty for a public route. Absent if the document itself states the
   * schemes.
   */
  readonly security?: readonly Record<string, []>[];
  readonly params: z.ZodObject | undefined;
  /** The schema of the header `Idempotency-Key`, on the routes that need it. */
  readonly idempotencyKey?: z.ZodString;
  readonly refusals: Refusals;
  readonly examples: RouteExamples;
  readonly errorExamplesOf: (codes: readonly ApiErrorCode[]) => Examples;
  /** What a 429 means. */
  readonly limited: string;
}

export function operationOf(route: AnyRoute, context: DocumentContext): RouteConfig {
  const { area, tag, security, params, idempotencyKey, refusals, examples, errorExamplesOf, limited } = context;
  const { query, body, isBodyOptional = false, success } = route;
  const isIdempotent = route.mintOperationId !== undefined;
  return {
    method: route.method,
    path: `${area.prefix}${route.path}`,
    operationId: route.name,
    tags: [tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...(security !== undefined && { security: [...structuredClone(security)] }),
    request: {
      ...(params !== undefined && { params }),
      ...(query !== undefined && { query: objectOf(query) }),
      ...(isIdempotent && idempotencyKey && { headers: z.object({ 'Idempotency-Key': idempotencyKey }) }),
      ...(body !== undefined && { body: { required: !isBodyOptional, ...jsonContent(body, examples.request) } }),
    },
    responses: {
      [success.status]: {
        description: success.description,
        headers: headersNamed(...COMMON_HEADERS, ...(isIdempotent ? ([REPLAY_HEADER] as const) : [])),
        ...(success.schema !== undefined && jsonContent(success.schema, examples.response)),
      },
      ...errorResponses(refusals, errorExamplesOf),
      429: limitedResponse(limited, RATE_LIMIT_EXAMPLES),
    },
  };
}
