import type { JournalEntry } from '@laurel/testing';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'vitest';

/** The HTTP status of every error code of the contract; `/v1` may answer nothing else. */
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

/** What `/api`, the service's own routes, may answer besides. */
const STATUS_OF_OWN_CODE: Readonly<Record<string, number>> = { ...STATUS_OF_CODE, forbidden: 403, conflict: 409 };

/** A documented answer: `POST /v1/attempts 201`. */
export type RouteStatus = `${string} ${string} ${number}`;

export interface Contract {
  /** Every `/v1` route and status that the served document describes. */
  readonly documented: ReadonlySet<RouteStatus>;
  /** Those seen so far, documented or not (an unknown path has none). */
  readonly seen: ReadonlySet<RouteStatus>;
  /**
   * Holds one `/v1` answer against the served document and the rules that hold for every answer, and one of `/api` against those alone;
   * throws on the first break.
   */
  check(entry: JournalEntry): void;
}

interface OpenApi {
  openapi: string;
  servers?: { url: string }[];
  paths: Record<string, Record<string, { responses?: Record<string, { content?: Record<string, unknown> }> }>>;
}

/** The retired route of browsers has a body of its own. */
const RETIRED = /^\/api\/attempts\//;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export async function loadContract(baseUrl: string): Promise<Contract> {
  // Kept open, the connection would hold up the gateway's end.
  const response = await fetch(`${baseUrl}/openapi.json`, { headers: { connection: 'close' } });
  expect(response.status).toBe(200);
  return createContract((await response.json()) as OpenApi);
}

export function createContract(document: OpenApi): Contract {
  expect(document.openapi).toMatch(/^3\.1\./);
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  formats.default(ajv);
  ajv.addSchema(document, 'openapi');

  const prefix = new URL(document.servers?.[0]?.url ?? '/', 'http://localhost').pathname.replace(/\/$/, '');
  const routes = Object.entries(document.paths).flatMap(([template, operations]) =>
    METHODS.filter((method) => operations[method] !== undefined).map((method) => ({
      template,
      method: method.toUpperCase(),
      // A document may count `/v1` to its server address or to its paths.
      path: template.startsWith('/v1') || template.startsWith('/api') ? template : prefix + template,
      responses: operations[method]?.responses ?? {},
    })),
  );
  const documented = new Set<RouteStatus>();
  for (const route of routes) {
    if (!route.path.startsWith('/v1')) continue;
    for (const status of Object.keys(route.responses))
      documented.add(`${route.method} ${route.path} ${Number(status)}`);
  }
  const routeOf = (method: string, path: string) =>
    routes.find((route) => route.method === method && matches(route.path, path));
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (template: string, method: string, status: string): ValidateFunction => {
    const pointer = [
      'paths',
      template,
      method.toLowerCase(),
      'responses',
      status,
      'content',
      'application/json',
      'schema',
    ]
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const known = validators.get(pointer);
    if (known !== undefined) return known;
    const compiled = ajv.compile({ $ref: `openapi#/${pointer}` });
    validators.set(pointer, compiled);
    return compiled;
  };
  const seen = new Set<RouteStatus>();

  return {
    documented,
    seen,
    check({ method, path, answer }) {
      const pathname = path.split('?')[0] ?? path;
      if (answer.status === 0) return;
      const told = `${method} ${path} answered ${answer.status} ${answer.text.slice(0, 400)}`;
      if (pathname.startsWith('/api/') && !RETIRED.test(pathname)) expectOwnAnswer(answer, told);
      if (!pathname.startsWith('/v1')) return;

      expect(answer.headers['x-request-id'], `x-request-id: ${told}`).toMatch(/.{8,}/);
      expect(answer.headers['content-type'], told).toMatch(/^application\/json/);
      if (answer.status !== 401) {
        expect(answer.headers['x-ratelimit-limit'], `x-ratelimit-limit: ${told}`).toMatch(/^\d+$/);
        expect(answer.headers['x-ratelimit-remaining'], `x-ratelimit-remaining: ${told}`).toMatch(/^\d+$/);
      }
      if (answer.status === 429) expectLimiterBody(answer.body, told);
      else if (answer.status >= 400) expectEnvelope(STATUS_OF_CODE, answer.status, answer.body, told);
      if (answer.code === 'idempotency_in_progress' || answer.status === 429) {
        expect(answer.headers['retry-after'], `retry-after: ${told}`).toMatch(/^\d+$/);
      }

      const route = routeOf(method, pathname);
      if (route === undefined) {
        expect([401, 404, 429, 500], `an unknown route: ${told}`).toContain(answer.status);
        return;
      }
      seen.add(`${method} ${route.path} ${answer.status}`);
      expect(Object.keys(route.responses), `an undocumented status: ${told}`).toContain(String(answer.status));
      const validate = validatorOf(route.template, method, String(answer.status));
      if (!validate(answer.body)) expect.fail(`${told}\nagainst its schema: ${ajv.errorsText(validate.errors)}`);
    },
  };
}

/** An answer of `/api`: no document describes it, and its failures look as those of `/v1` do. */
function expectOwnAnswer({ status, headers, body, text }: JournalEntry['answer'], told: string): void {
  expect(headers['x-request-id'], `x-request-id: ${told}`).toMatch(/.{8,}/);
  if (status === 204) expect(text, told).toBe('');
  else expect(headers['content-type'], told).toMatch(/^application\/json/);
  if (status === 429) {
    expectLimiterBody(body, told);
    expect(headers['retry-after'], `retry-after: ${told}`).toMatch(/^\d+$/);
  } else if (status >= 400) {
    expectEnvelope(STATUS_OF_OWN_CODE, status, body, told);
  }
}

/** The one shape of a failure, and only codes that belong to its status. */
function expectEnvelope(
  statusOfCode: Readonly<Record<string, number>>,
  status: number,
  body: unknown,
  told: string,
): void {
  const { error, ...rest } = body as { error: { code: string; message: string; details?: object } };
  expect(rest, told).toEqual({});
  const { code, message, details, ...unknown } = error;
  expect(unknown, told).toEqual({});
  expect(statusOfCode[code], told).toBe(status);
  expect(message, told).toMatch(/\S/);
  if (details !== undefined) expect(typeof details, told).toBe('object');
}

function expectLimiterBody(body: unknown, told: string): void {
  expect(body, told).toEqual({
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
