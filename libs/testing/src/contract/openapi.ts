import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { CHECKOUT } from '../checkout.ts';
import type { JournalEntry } from '../http-client.ts';
import { dereferenced } from './dereferenced.ts';

/** The HTTP status of every error code of the contract. `/v1` may return only these codes. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  insufficient_funds: 402,
  blocked: 403,
  insider_entry: 403,
  not_found: 404,
  challenge_not_available: 409,
  challenge_already_claimed: 409,
  rung_locked: 409,
  attempt_cap_reached: 409,
  entries_closed: 409,
  round_closed: 409,
  attempt_already_settled: 409,
  idempotency_key_reused: 409,
  idempotency_in_progress: 409,
  client_reporting_removed: 410,
  score_out_of_range: 422,
  tiebreak_required: 422,
  internal_error: 500,
};

/** The codes that `/api`, the routes of Laurel's own pages, may return. */
const STATUS_OF_OWN_CODE: Readonly<Record<string, number>> = { ...STATUS_OF_CODE, forbidden: 403, conflict: 409 };

/** A documented response: `POST /v1/attempts 201`. */
export type RouteStatus = `${string} ${string} ${number}`;

export type RouteCode = `${string} ${string} ${string}`;

/** One request with its response. */
export type Exchange = Pick<JournalEntry, 'method' | 'path' | 'answer'>;

export interface Contract {
  /** Every `/v1` route and status that the served document describes. */
  readonly documented: ReadonlySet<RouteStatus>;
  /**
   * The routes and statuses seen so far, documented or not. A response to an unknown path is not in
   * the set.
   */
  readonly seen: ReadonlySet<RouteStatus>;
  /** The routes and statuses under `/api` that `docs/openapi/portal-api.yaml` describes. */
  readonly ownDocumented: ReadonlySet<RouteStatus>;
  readonly ownSeen: ReadonlySet<RouteStatus>;
  /** Every code that a `/v1` route may return: `POST /v1/attempts blocked`. */
  readonly documentedCodes: ReadonlySet<RouteCode>;
  readonly seenCodes: ReadonlySet<RouteCode>;
  /**
   * Checks one response against the rules for all responses, and against the document of its route:
   * the served document for `/v1`, docs/openapi/portal-api.yaml for `/api`. Throws on the first
   * violation.
   */
  check(entry: Exchange): void;
  /** Checks the headers and body of a webhook against the document's description of its event. */
  checkWebhook(headers: Readonly<Record<string, unknown>>, body: unknown): void;
}

interface OpenApi {
  openapi: string;
  servers?: { url: string }[];
  components?: object;
  paths: Record<string, Record<string, { responses?: Record<string, ResponseObject> }>>;
  webhooks?: Record<string, { post: { parameters: { name: string; required?: boolean; schema: object }[] } }>;
}

interface ResponseObject {
  content?: { 'application/json'?: { examples?: Record<string, unknown> } };
  headers?: Record<string, unknown>;
}

/** The retired browser route, whose responses have a different body. */
const RETIRED = /^\/api\/attempts\//;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

const documentAt = (file: string) => parse(readFileSync(`${CHECKOUT}docs/openapi/${file}.yaml`, 'utf8')) as OpenApi;
let ownDocument: OpenApi | undefined;
let described: Contract | undefined;

/** Checks `/v1` against the document that this stack serves. */
export async function loadContract(baseUrl: string): Promise<Contract> {
  // A kept-alive connection would delay the gateway's exit.
  const response = await fetch(`${baseUrl}/openapi.json`, { headers: { connection: 'close' } });
  expect(response.status).toBe(200);
  ownDocument ??= documentAt('portal-api');
  return createContract((await response.json()) as OpenApi, ownDocument);
}

/** Checks against the documents in the checkout, for parts of the system that serve no document. */
export function openDocuments(): Contract {
  described ??= createContract(documentAt('partner-v1'), documentAt('portal-api'));
  return described;
}

export function createContract(partnerDocument: OpenApi, ownDocument: OpenApi): Contract {
  const partner = openDocument(partnerDocument);
  const own = openDocument(ownDocument);
  const { routes, routeOf, validatorOf, explain } = partner;
  const documented = statusesOf(routes.filter(({ path }) => path.startsWith('/v1')));
  const documentedCodes = new Set<RouteCode>();
  for (const { method, path, responses } of routes) {
    if (!path.startsWith('/v1')) continue;
    for (const [status, response] of Object.entries(responses)) {
      if (Number(status) < 400 || status === '429') continue;
      for (const code of codesOf(response)) documentedCodes.add(`${method} ${path} ${code}`);
    }
  }
  const ownDocumented = statusesOf(own.routes);
  const seen = new Set<RouteStatus>();
  const seenCodes = new Set<RouteCode>();
  const ownSeen = new Set<RouteStatus>();

  const checkOwn = ({ method, answer }: Exchange, pathname: string, summary: string) => {
    expectOwnAnswer(answer, summary);
    const route = own.routeOf(method, pathname);
    if (route === undefined) {
      expect([401, 403, 404, 429, 500], `an unknown route: ${summary}`).toContain(answer.status);
      return;
    }
    ownSeen.add(`${method} ${route.path} ${answer.status}`);
    expectDescribed(route, answer, summary);
    if (answer.status === 204) return;
    const validate = own.validatorOf(...bodyOf(route, answer.status));
    if (!validate(answer.body)) expect.fail(`${summary}\nagainst its schema: ${own.explain(validate)}`);
  };

  return {
    documented,
    seen,
    ownDocumented,
    ownSeen,
    documentedCodes,
    seenCodes,
    checkWebhook(headers, body) {
      const type = String(headers['x-webhook-event']);
      const webhook = partnerDocument.webhooks?.[type] ?? expect.fail(`the document knows no webhook ${type}`);
      for (const [index, { name, schema }] of webhook.post.parameters.entries()) {
        const value = headers[name.toLowerCase()];
        const validate = validatorOf('webhooks', type, 'post', 'parameters', String(index), 'schema');
        if (!validate(value)) expect.fail(`${name}: ${value} of ${type} against ${JSON.stringify(schema)}`);
      }
      const validate = validatorOf('webhooks', type, 'post', 'requestBody', 'content', 'application/json', 'schema');
      if (!validate(body)) expect.fail(`${JSON.stringify(body)}\nagainst its schema: ${explain(validate)}`);
    },
    check(entry) {
      const { method, path, answer } = entry;
      const pathname = path.split('?')[0] ?? path;
      if (answer.status === 0) return;
      const summary = `${method} ${path} answered ${answer.status} ${answer.text.slice(0, 400)}`;
      if (pathname.startsWith('/api/') && !RETIRED.test(pathname)) checkOwn(entry, pathname, summary);
      if (!pathname.startsWith('/v1')) return;

      expect(answer.headers['x-request-id'], `x-request-id: ${summary}`).toMatch(/.{8,}/);
      expect(answer.headers['content-type'], summary).toMatch(/^application\/json/);
      if (answer.status !== 401) {
        expect(answer.headers['x-ratelimit-limit'], `x-ratelimit-limit: ${summary}`).toMatch(/^\d+$/);
        expect(answer.headers['x-ratelimit-remaining'], `x-ratelimit-remaining: ${summary}`).toMatch(/^\d+$/);
      }
      if (answer.status === 429) expectLimiterBody(answer.body, summary);
      else if (answer.status >= 400) expectEnvelope(STATUS_OF_CODE, answer.status, answer.body, summary);
      if (answer.code === 'idempotency_in_progress' || answer.status === 429) {
        expect(answer.headers['retry-after'], `retry-after: ${summary}`).toMatch(/^\d+$/);
      }

      const route = routeOf(method, pathname);
      if (route === undefined) {
        expect([401, 404, 429, 500], `an unknown route: ${summary}`).toContain(answer.status);
        return;
      }
      seen.add(`${method} ${route.path} ${answer.status}`);
      if (answer.code !== undefined) seenCodes.add(`${method} ${route.path} ${answer.code}`);
      expectDescribed(route, answer, summary);
      const validate = validatorOf(...bodyOf(route, answer.status));
      if (!validate(answer.body)) expect.fail(`${summary}\nagainst its schema: ${explain(validate)}`);
    },
  };
}

interface DocumentedRoute {
  readonly template: string;
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

type OpenedDocument = ReturnType<typeof compileDocument>;

/**
 * Compiled documents, by their text. The test files of a worker share them, because they read the
 * same documents and compiled validators have no state.
 */
const openedDocuments = new Map<string, OpenedDocument>();

function openDocument(document: OpenApi): OpenedDocument {
  const text = JSON.stringify(document);
  const known = openedDocuments.get(text);
  if (known !== undefined) return known;
  const opened = compileDocument(document);
  openedDocuments.set(text, opened);
  return opened;
}

/** Returns a document's routes and the validators of its schemas. */
function compileDocument(served: OpenApi) {
  const document = dereferenced(served);
  expect(document.openapi).toMatch(/^3\.1\./);
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  formats.default(ajv);
  ajv.addSchema(document, 'openapi');

  const prefix = new URL(document.servers?.[0]?.url ?? '/', 'http://localhost').pathname.replace(/\/$/, '');
  const routes = Object.entries(document.paths).flatMap(([template, operations]): DocumentedRoute[] =>
    METHODS.filter((method) => operations[method] !== undefined).map((method) => ({
      template,
      method: method.toUpperCase(),
      // Adds the path of the document's server address, unless the paths already begin with `/v1`
      // or `/api`.
      path: template.startsWith('/v1') || template.startsWith('/api') ? template : prefix + template,
      responses: operations[method]?.responses ?? {},
    })),
  );
  const validators = new Map<string, ValidateFunction>();

  return {
    routes,
    routeOf: (method: string, path: string) =>
      routes.find((route) => route.method === method && matches(route.path, path)),
    /** Validates against the schema at this path of the document. */
    validatorOf(...path: readonly string[]): ValidateFunction {
      const pointer = path
        .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
        .join('/');
      const known = validators.get(pointer);
      if (known !== undefined) return known;
      const compiled = ajv.compile({ $ref: `openapi#/${pointer}` });
      validators.set(pointer, compiled);
      return compiled;
    },
    explain: ({ errors }: ValidateFunction) => ajv.errorsText(errors),
  };
}

function statusesOf(routes: readonly DocumentedRoute[]): ReadonlySet<RouteStatus> {
  return new Set(
    routes.flatMap(({ method, path, responses }) =>
      Object.keys(responses).map((status): RouteStatus => `${method} ${path} ${Number(status)}`),
    ),
  );
}

/** Returns where the document has the schema of this response. */
function bodyOf({ template, method }: DocumentedRoute, status: number): readonly string[] {
  return [
    'paths',
    template,
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    'application/json',
    'schema',
  ];
}

/**
 * Expects that the document describes the response's status, and each header of the response that
 * it documents for some response.
 */
function expectDescribed({ responses }: DocumentedRoute, answer: JournalEntry['answer'], summary: string): void {
  expect(Object.keys(responses), `an undocumented status: ${summary}`).toContain(String(answer.status));
  if (answer.code !== undefined) {
    expect(codesOf(responses[String(answer.status)] ?? {}), `an undocumented code: ${summary}`).toContain(answer.code);
  }
  for (const name of ['retry-after', 'idempotency-replayed', 'x-ratelimit-limit', 'x-ratelimit-remaining']) {
    if (answer.headers[name] === undefined) continue;
    const described = Object.keys(responses[String(answer.status)]?.headers ?? {});
    expect(
      described.map((header) => header.toLowerCase()),
      `an undocumented header: ${summary}`,
    ).toContain(name);
  }
}

/** Returns the codes that an error response may have: the keys of its examples. */
function codesOf(response: ResponseObject): readonly string[] {
  return Object.keys(response.content?.['application/json']?.examples ?? {});
}

/** Expects the rules for every `/api` response. Errors have the same shape as errors of `/v1`. */
function expectOwnAnswer({ status, headers, body, text }: JournalEntry['answer'], summary: string): void {
  expect(headers['x-request-id'], `x-request-id: ${summary}`).toMatch(/.{8,}/);
  if (status === 204) expect(text, summary).toBe('');
  else expect(headers['content-type'], summary).toMatch(/^application\/json/);
  if (status === 429) {
    expectLimiterBody(body, summary);
    expect(headers['retry-after'], `retry-after: ${summary}`).toMatch(/^\d+$/);
  } else if (status >= 400) {
    expectEnvelope(STATUS_OF_OWN_CODE, status, body, summary);
  }
}

/** Expects the shape that every error has, with a code that belongs to the response's status. */
function expectEnvelope(
  statusOfCode: Readonly<Record<string, number>>,
  status: number,
  body: unknown,
  summary: string,
): void {
  const { error, ...rest } = body as { error: { code: string; message: string; details?: object } };
  expect(rest, summary).toEqual({});
  const { code, message, details, ...unknown } = error;
  expect(unknown, summary).toEqual({});
  expect(statusOfCode[code], summary).toBe(status);
  expect(message, summary).toMatch(/\S/);
  if (details !== undefined) expect(typeof details, summary).toBe('object');
}

function expectLimiterBody(body: unknown, summary: string): void {
  expect(body, summary).toEqual({
    error: expect.stringMatching(/\S/),
    retry_after: expect.any(Number),
    limit: expect.any(Number),
    reset_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
}

/** `/v1/attempts/{attempt_id}` matches `/v1/attempts/018f...`. */
function matches(template: string, path: string): boolean {
  const expected = template.split('/');
  const actual = path.split('/');
  return (
    expected.length === actual.length &&
    expected.every((part, index) => (part.startsWith('{') ? actual[index] !== '' : part === actual[index]))
  );
}
