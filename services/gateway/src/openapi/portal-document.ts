/**
 * The OpenAPI 3.1 document of the routes that carry no promise to partners: operators', the portal's and the sandbox's. It is written to
 * `docs/openapi/portal-api.yaml` and served nowhere; tests check every answer under `/api` against it.
 */
import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import type { ApiErrorCode } from '@laurel/errors';
import { z } from '../http/zod.ts';
import type { ApiRoute } from '../routes/api-route.ts';
import { registerComponents } from '../routes/component.ts';
import { OPERATOR_ROUTES } from '../routes/operator/index.ts';
import { PORTAL_ROUTES } from '../routes/portal/index.ts';
import { signIn } from '../routes/portal/session.ts';
import { SANDBOX_ROUTES } from '../routes/sandbox/index.ts';
import { ownErrorSchema } from './error-schemas.ts';
import { COMMON_HEADERS, headersNamed, registerHeaders } from './headers.ts';
import { type OpenApiDocument, polish } from './polish.ts';
import { errorResponses, json, limitedResponse } from './responses.ts';

type Refusals = Partial<Record<ApiErrorCode, string>>;

/** What a route documents, whichever its callers and dependencies are. */
type DocumentedRoute = Omit<ApiRoute<never, never>, 'run' | 'recording'>;

interface Area {
  readonly name: 'sandbox' | 'portal' | 'operator';
  readonly routes: readonly DocumentedRoute[];
  /** Each alone is enough; none for a public route. */
  readonly security: readonly Record<string, []>[];
  /** The refusals of admission; the second only where a route changes something. */
  readonly refusals: Refusals;
  readonly refusalsOfChanges?: Refusals;
}

const AREAS: readonly Area[] = [
  {
    name: 'sandbox',
    routes: SANDBOX_ROUTES,
    security: [{ TestKey: [] }],
    refusals: { unauthorized: 'Any failure of the key; a live key is one.' },
  },
  { name: 'portal', routes: [signIn], security: [], refusals: {} },
  {
    name: 'portal',
    routes: PORTAL_ROUTES,
    security: [{ Session: [] }, { SessionCookie: [] }],
    refusals: { unauthorized: 'Not signed in, or no longer.' },
    refusalsOfChanges: { forbidden: 'By the cookie, from a page of another site.' },
  },
  {
    name: 'operator',
    routes: OPERATOR_ROUTES,
    security: [{ OperatorToken: [] }],
    refusals: { unauthorized: 'The token is missing or not valid.' },
  },
];

const DESCRIPTION = [
  'Routes of operators, of the developer portal and of the sandbox. They carry no promise to partners and may change with any release.',
  'Money, timestamps, ids, bodies and errors are as in the partner API; two codes come on top, `forbidden` and `conflict`.',
  'A request is checked in this order: 401, 429, 400, 404, the conflicts.',
].join(' ');

export function portalDocument(): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'TestKey', { type: 'apiKey', in: 'header', name: 'X-API-Key' });
  registry.registerComponent('securitySchemes', 'Session', { type: 'http', scheme: 'bearer' });
  registry.registerComponent('securitySchemes', 'SessionCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: 'laurel_session',
  });
  registry.registerComponent('securitySchemes', 'OperatorToken', { type: 'http', scheme: 'bearer' });
  registerHeaders(registry);
  registerComponents(registry);
  registry.register('ErrorResponse', ownErrorSchema);
  for (const area of AREAS) for (const route of area.routes) registry.registerPath(pathOf(area, route));
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: { title: 'Operator, portal and sandbox routes', version: 'unversioned', description: DESCRIPTION },
    servers: [{ url: '/' }],
  });
  return polish(document);
}

function pathOf(area: Area, route: DocumentedRoute): RouteConfig {
  const { params, query, body, success } = route;
  return {
    method: route.method,
    path: `/api/${area.name}${route.path}`,
    operationId: route.name,
    tags: [area.name],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    security: [...structuredClone(area.security)],
    request: {
      ...(params !== undefined && { params: objectOf(params) }),
      ...(query !== undefined && { query: objectOf(query) }),
      ...(body !== undefined && { body: { required: true, ...json(body) } }),
    },
    responses: {
      [success.status]: {
        description: success.description,
        headers: headersNamed(...COMMON_HEADERS),
        ...(success.schema !== undefined && json(success.schema)),
      },
      ...errorResponses(refusalsOf(area, route)),
      429: limitedResponse('Over a limit of rate, or of failures. Not the envelope.'),
    },
  };
}

/** The route's own refusals, and those that follow from its schemas and its area. */
function refusalsOf(area: Area, route: DocumentedRoute): Refusals {
  const isInput = route.query !== undefined || route.body !== undefined;
  return {
    ...(isInput && { invalid_request: `The ${route.body === undefined ? 'query' : 'body'} does not fit.` }),
    ...area.refusals,
    ...(route.method !== 'get' && area.refusalsOfChanges),
    ...(route.params !== undefined && { not_found: 'What the path names is not there.' }),
    ...route.refusals,
    internal_error: 'A failure on our side.',
  };
}

function objectOf(schema: z.ZodType): z.ZodObject {
  if (!(schema instanceof z.ZodObject)) throw new Error('the parameters of a route are an object');
  return schema;
}
