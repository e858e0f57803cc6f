/**
 * The OpenAPI 3.1 document of the routes that promise nothing to partners: the operators', the
 * portal's and the sandbox's. It is written to `docs/openapi/portal-api.yaml` and served at
 * `/api/openapi.json`; tests check every response under `/api` against it.
 */
import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import type { ApiErrorCode } from '@laurel/errors';
import { NO_OPERATOR_TOKEN } from '../admission/operator-auth.ts';
import { NOT_SIGNED_IN } from '../admission/session.ts';
import { type AnyRoute, apiArea } from '../http/route.ts';
import { DEVELOPER_COOKIE, OPERATOR_COOKIE } from '../http/session-cookie.ts';
import { objectOf, z } from '../http/zod.ts';
import { registerComponents } from '../routes/component.ts';
import { OPERATOR_ROUTES } from '../routes/operator/index.ts';
import { OPERATOR_SESSION_ROUTES, signInOperator } from '../routes/operator/session.ts';
import { PORTAL_ROUTES } from '../routes/portal/index.ts';
import { INVALID_LINK, signIn, signInByLink } from '../routes/portal/session.ts';
import { SANDBOX_ROUTES } from '../routes/sandbox/index.ts';
import { ownErrorSchema } from './error-schemas.ts';
import { errorExamplesOf } from './examples/errors.ts';
import { recordedExamplesOf, recordedParameterOf } from './examples/recorded.ts';
import { registerHeaders } from './headers.ts';
import { normalizeDocument, type OpenApiDocument } from './normalize.ts';
import { operationOf, type Refusals } from './operation.ts';
import { SERVERS } from './servers.ts';

interface DocumentedArea {
  readonly name: 'sandbox' | 'portal' | 'operator';
  /** The message of its 401; if absent, the code's own message. */
  readonly unauthorizedMessage?: string;
  readonly routes: readonly AnyRoute[];
  /** Each scheme alone is enough; empty for a public route. */
  readonly security: readonly Record<string, []>[];
  /**
   * The refusals of admission. `refusalsOfChanges` applies only to routes that change something.
   */
  readonly refusals: Refusals;
  readonly refusalsOfChanges?: Refusals;
}

const BY_COOKIE: Refusals = {
  forbidden:
    'The request has the cookie, but its headers do not show that a page of this site sent it (`Sec-Fetch-Site`, `Origin`).',
};

const AREAS: readonly DocumentedArea[] = [
  {
    name: 'sandbox',
    routes: SANDBOX_ROUTES,
    security: [{ TestKey: [] }],
    refusals: { unauthorized: 'The key is missing, not valid, or a live key.' },
  },
  {
    name: 'portal',
    unauthorizedMessage: 'The e-mail or the password is not right.',
    routes: [signIn],
    security: [],
    refusals: {},
  },
  { name: 'portal', unauthorizedMessage: INVALID_LINK, routes: [signInByLink], security: [], refusals: {} },
  {
    name: 'portal',
    unauthorizedMessage: NOT_SIGNED_IN,
    routes: PORTAL_ROUTES,
    security: [{ Session: [] }, { SessionCookie: [] }],
    refusals: { unauthorized: 'Not signed in, or the session has ended.' },
    refusalsOfChanges: BY_COOKIE,
  },
  {
    name: 'operator',
    unauthorizedMessage: NO_OPERATOR_TOKEN,
    routes: [signInOperator],
    security: [],
    refusals: {},
  },
  {
    name: 'operator',
    unauthorizedMessage: NO_OPERATOR_TOKEN,
    routes: [...OPERATOR_SESSION_ROUTES.filter((route) => route !== signInOperator), ...OPERATOR_ROUTES],
    security: [{ OperatorToken: [] }, { OperatorCookie: [] }],
    refusals: { unauthorized: 'The token or the session is missing or not valid.' },
    refusalsOfChanges: BY_COOKIE,
  },
];

const TAGS = [
  {
    name: 'Sandbox',
    description:
      'With a test key: create players with play money, and bring about now what would take an hour or more.',
  },
  { name: 'Portal session', description: 'Signing in and out.' },
  { name: 'Portal me', description: 'The developer who is signed in.' },
  { name: 'Portal programs', description: "A developer's own programs and their test keys." },
  { name: 'Portal webhook events', description: 'The events that endpoints may subscribe to.' },
  { name: 'Portal sandbox', description: 'The sandbox of a program, for its signed-in developer.' },
  { name: 'Portal challenges', description: "The challenges of a developer's program, and their statistics." },
  { name: 'Portal tournaments', description: "The tournaments of a developer's program." },
  { name: 'Portal rounds', description: 'The rounds of a tournament, and their standings.' },
  { name: 'Portal webhook endpoints', description: "A developer's endpoints, their secrets and their logs." },
  { name: 'Portal deliveries', description: 'Sending deliveries of webhooks again.' },
  {
    name: 'Portal integrations',
    description: 'The integrations of a program, dry runs of descriptors, and the results of pushes and polls.',
  },
  { name: 'Operator session', description: 'Signing in with a token, and out.' },
  { name: 'Operator me', description: 'The operator who is signed in.' },
  { name: 'Operator developers', description: 'The developers who may sign in to the portal.' },
  { name: 'Operator programs', description: 'Programs, their approval, their live keys and their insiders.' },
  { name: 'Operator money', description: 'The money of days, by program and environment.' },
  { name: 'Operator accounts', description: 'People, their limits, their links and their money.' },
  { name: 'Operator challenges', description: 'Challenges, their calibration, statistics and drift monitor.' },
  { name: 'Operator tournaments', description: 'Tournaments and their status.' },
  { name: 'Operator rounds', description: 'Rounds, and their standings with accounts and awards.' },
  { name: 'Operator payouts', description: 'Payouts to players, and decisions on those that are held.' },
  { name: 'Operator attempts', description: 'Attempts of every program, and voiding one by hand.' },
  { name: 'Operator receipts', description: 'The signed records of outcomes.' },
  { name: 'Operator audit', description: 'A check of every money rule.' },
  { name: 'Operator search', description: 'Finding what an id, an e-mail or a player_ref names.' },
  { name: 'Operator actions', description: 'The log of the changes that operators made.' },
] as const;

const DESCRIPTION = [
  'Routes for operators, for the developer portal and for the sandbox. They promise nothing to partners and may change with any release.',
  'Money, timestamps, ids, bodies and errors are as in the partner API, with two more codes: `forbidden` and `conflict`.',
  'The gateway checks a request in this order: 401, 429, 400, 404, conflicts.',
].join(' ');

export function portalDocument(): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'TestKey', { type: 'apiKey', in: 'header', name: 'X-API-Key' });
  registry.registerComponent('securitySchemes', 'Session', { type: 'http', scheme: 'bearer' });
  registry.registerComponent('securitySchemes', 'SessionCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: DEVELOPER_COOKIE.name,
  });
  registry.registerComponent('securitySchemes', 'OperatorToken', { type: 'http', scheme: 'bearer' });
  registry.registerComponent('securitySchemes', 'OperatorCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: OPERATOR_COOKIE.name,
  });
  registerHeaders(registry);
  registerComponents(registry);
  registry.register('ErrorResponse', ownErrorSchema);
  for (const area of AREAS) for (const route of area.routes) registry.registerPath(operationIn(area, route));
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: { title: 'Operator, portal and sandbox routes', version: 'unversioned', description: DESCRIPTION },
    servers: SERVERS,
    externalDocs: { url: '/docs', description: 'Guides, and the reference of the partner API.' },
    tags: TAGS.map((tag) => ({ ...tag })),
  });
  return normalizeDocument(document);
}

function operationIn(area: DocumentedArea, route: AnyRoute): RouteConfig {
  return operationOf(route, {
    area: apiArea(area.name),
    tag: tagOf(area, route),
    security: area.security,
    params: route.params && withExamples(route, objectOf(route.params)),
    refusals: refusalsOf(area, route),
    examples: recordedExamplesOf(route),
    errorExamplesOf: (codes) => errorExamplesOf(codes, saidOf(area, route)),
    limited: 'The request exceeds a rate limit or a limit of failures. The body is not the error envelope.',
  });
}

/** The message and details of a route's refusals. */
function saidOf(area: DocumentedArea, route: AnyRoute): Partial<Record<ApiErrorCode, object>> {
  const { unauthorizedMessage } = area;
  return {
    invalid_request: { message: invalidMessage(route) },
    ...(unauthorizedMessage !== undefined && { unauthorized: { message: unauthorizedMessage } }),
    forbidden: { message: 'Pages of other sites may not change anything here.' },
  };
}

function invalidMessage(route: AnyRoute): string {
  const { query, body } = route;
  if (body === undefined && query === undefined) return 'must not have `page`';
  if (body === undefined) return 'cursor: must be a next_cursor of this list';
  // A body whose members are all optional must have at least one of them. For any other body, the
  // example is a body that lacks its first member.
  if (body instanceof z.ZodObject && Object.values(body.shape).every((member) => member.safeParse(undefined).success)) {
    return 'must change something';
  }
  const [example] = Object.values(recordedExamplesOf(route).request ?? {});
  return `${Object.keys(example?.value ?? {})[0] ?? 'body'}: is missing`;
}

function invalidReason({ query, body }: AnyRoute): string {
  if (body !== undefined) return 'The body does not match its schema, or the query has an unknown parameter.';
  return query === undefined ? 'The query has a parameter.' : 'The query does not match its schema.';
}

/** The examples of the parameters are those of the recorded request. */
function withExamples(route: AnyRoute, params: z.ZodObject): z.ZodObject {
  const shape = Object.entries(params.shape as Record<string, z.ZodType>).map(([name, schema]) => [
    name,
    schema.openapi({ example: recordedParameterOf(route, name) }),
  ]);
  return z.object(Object.fromEntries(shape));
}

/**
 * Operators' `/programs/{programId}/challenges` gets the tag `Operator challenges`: the last
 * resource that the path names and the document describes.
 */
function tagOf(area: DocumentedArea, route: AnyRoute): string {
  const areaTag = `${area.name.charAt(0).toUpperCase()}${area.name.slice(1)}`;
  const names = route.path
    .split('/')
    .filter((segment) => segment !== '' && !segment.startsWith('{'))
    .map((segment) => `${areaTag} ${segment.replaceAll('-', ' ')}`);
  const named = [...names].reverse().find((name) => TAGS.some((tag) => tag.name === name)) ?? areaTag;
  if (!TAGS.some((tag) => tag.name === named)) throw new Error(`no tag describes ${area.name}${route.path}`);
  return named;
}

/** The route's own refusals, and those that follow from its schemas and its area. */
function refusalsOf(area: DocumentedArea, route: AnyRoute): Refusals {
  return {
    invalid_request: invalidReason(route),
    ...area.refusals,
    ...(route.method !== 'get' && area.refusalsOfChanges),
    ...(route.params !== undefined && { not_found: 'No resource has the id in the path.' }),
    ...route.refusals,
    internal_error: 'Laurel failed to process the request.',
  };
}
