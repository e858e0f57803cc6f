/** Turns the routes of `/v1` into OpenAPI 3.1. Nothing is described twice: routes and schemas are what the gateway runs. */
import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { type ErrorCode, HTTP_STATUS } from '@laurel/errors';
import { V1_ROUTES } from '../routes/v1/index.ts';
import type { V1Route } from '../routes/v1/route.ts';
import { errorSchema, rateLimitSchema, retiredSchema } from '../routes/v1/schemas.ts';
import { z } from './zod.ts';

export type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

const REQUEST_ID_HEADER = {
  'X-Request-Id': { schema: { type: 'string' as const }, description: 'Quote it to support.' },
};
const COMMON_HEADERS = {
  ...REQUEST_ID_HEADER,
  'X-RateLimit-Limit': { schema: { type: 'integer' as const }, description: 'Requests per minute and key.' },
  'X-RateLimit-Remaining': { schema: { type: 'integer' as const }, description: 'Left in this minute.' },
};
const RETRY_AFTER_HEADER = { 'Retry-After': { schema: { type: 'integer' as const }, description: 'Seconds.' } };
const REPLAYED_HEADER = {
  'Idempotency-Replayed': { schema: { type: 'string' as const, enum: ['true'] }, description: 'Present on a replay.' },
};

const IDEMPOTENCY_REFUSALS: Partial<Record<ErrorCode, string>> = {
  idempotency_key_reused: 'The key was used with another request on this endpoint.',
  idempotency_in_progress: 'The first request with this key is still in flight; retry after `Retry-After` seconds.',
};
const UNIVERSAL_REFUSALS: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Any key failure: all of them answer alike.',
  internal_error: 'A failure on our side: retry with the same `Idempotency-Key`.',
};

/** The document for partners: `/v1` and the retired route. */
export function partnerDocument(): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'ApiKey', { type: 'apiKey', in: 'header', name: 'X-API-Key' });
  for (const route of V1_ROUTES) registry.registerPath(pathOf(route));
  registry.registerPath({
    method: 'post',
    path: '/api/attempts/{id}/outcome',
    operationId: 'retiredReportOutcome',
    summary: 'Retired: reporting an outcome from the browser',
    description: 'Always 410. Needs no key.',
    deprecated: true,
    security: [],
    request: { params: z.object({ id: z.string() }) },
    responses: {
      410: { description: 'Report outcomes from the game server.', headers: REQUEST_ID_HEADER, ...json(retiredSchema) },
    },
  });
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Partner Scoring and Payout API',
      version: 'v1',
      description: [
        'Paid skill contests for partner game servers. Every request carries `X-API-Key`; the key decides the program and the environment:',
        '`sk_test_` is the sandbox, `sk_live_` is production. Money is decimal strings in USD, timestamps are ISO 8601 in UTC',
        'with milliseconds. Clients must tolerate added fields. Branch on `error.code`, never on the message.',
      ].join(' '),
    },
    servers: [{ url: '/' }],
    security: [{ ApiKey: [] }],
  });
}

function pathOf(route: V1Route): RouteConfig {
  const isIdempotent = route.mintOperationId !== undefined;
  const refusals = { ...route.refusals, ...(isIdempotent && IDEMPOTENCY_REFUSALS), ...UNIVERSAL_REFUSALS };
  const params = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [
    name,
    z.string().openapi({ format: 'uuid' }),
  ]);
  const headers = z.object({
    'Idempotency-Key': z.string().openapi({
      minLength: 1,
      maxLength: 255,
      description: 'Up to 255 characters, kept 24 hours. The same key with the same body answers the same, once.',
    }),
  });
  return {
    method: route.method,
    path: `/v1${route.path}`,
    operationId: route.name,
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    request: {
      ...(params.length > 0 && { params: z.object(Object.fromEntries(params)) }),
      ...(route.query !== undefined && { query: route.query as z.ZodObject }),
      ...(isIdempotent && { headers }),
      ...(route.body !== undefined && { body: { required: true, ...json(route.body) } }),
    },
    responses: {
      [route.success.status]: {
        description: route.success.description,
        headers: { ...COMMON_HEADERS, ...(isIdempotent && REPLAYED_HEADER) },
        ...json(route.success.schema),
      },
      ...errorResponses(refusals),
      429: {
        description: 'Over 300 requests per minute with this key. Not the envelope.',
        headers: { ...COMMON_HEADERS, ...RETRY_AFTER_HEADER },
        ...json(rateLimitSchema),
      },
    },
  };
}

/** One response per status, which names the codes that share it. */
function errorResponses(refusals: Partial<Record<ErrorCode, string>>): RouteConfig['responses'] {
  const byStatus = new Map<number, string[]>();
  for (const [code, cause] of Object.entries(refusals)) {
    const status = HTTP_STATUS[code as ErrorCode];
    byStatus.set(status, [...(byStatus.get(status) ?? []), `- \`${code}\`: ${cause}`]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, causes]) => [
      status,
      {
        description: causes.join('\n'),
        headers: status === 409 ? { ...COMMON_HEADERS, ...RETRY_AFTER_HEADER } : COMMON_HEADERS,
        ...json(errorSchema),
      },
    ]),
  );
}

function json(schema: z.ZodType) {
  return { content: { 'application/json': { schema } } };
}
