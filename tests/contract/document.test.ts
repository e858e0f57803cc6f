/**
 * Checks the served document without a call: it is valid OpenAPI 3.1, its examples are complete and
 * correct, and every refusal lists the codes of the contract.
 */

import { dereferenced } from '@laurel/testing/contract';
import { verify } from '@octokit/webhooks-methods';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinWorld, type SharedWorld } from '../world.ts';

interface Media {
  readonly schema: object;
  readonly examples?: Readonly<Record<string, { summary: string; value: unknown }>>;
}
interface Content {
  readonly content?: { readonly 'application/json': Media };
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: { example?: unknown; maxLength?: number };
  readonly description?: string;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<
    Record<string, Content & { description: string; headers?: Record<string, { $ref: string }> }>
  >;
}
interface Document {
  readonly info: { readonly description: string };
  readonly components: {
    readonly schemas: Readonly<Record<string, Record<string, unknown>>>;
    readonly headers: Readonly<Record<string, object>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
}

const ALWAYS = { 401: ['unauthorized'], 500: ['internal_error'] };
const KEY_CONFLICTS = ['idempotency_key_reused', 'idempotency_in_progress'];

/** Every code that the contract allows for a route, by status. */
const CODES: Readonly<Record<string, Readonly<Record<number, readonly string[]>>>> = {
  'get /v1/challenges': { ...ALWAYS, 400: ['invalid_request'] },
  'post /v1/challenges/{id}/distribution': { ...ALWAYS, 400: ['invalid_request'], 409: KEY_CONFLICTS },
  'post /v1/players': { ...ALWAYS, 400: ['invalid_request'], 404: ['not_found'] },
  'post /v1/attempts': {
    ...ALWAYS,
    400: ['invalid_request'],
    402: ['insufficient_funds'],
    403: ['blocked', 'insider_entry'],
    404: ['not_found'],
    409: [
      'challenge_not_available',
      'challenge_already_claimed',
      'rung_locked',
      'attempt_cap_reached',
      'entries_closed',
      ...KEY_CONFLICTS,
    ],
  },
  'post /v1/attempts/{attempt_id}/outcome': {
    ...ALWAYS,
    400: ['invalid_request'],
    404: ['not_found'],
    409: ['attempt_already_settled', 'round_closed', ...KEY_CONFLICTS],
    422: ['score_out_of_range', 'tiebreak_required'],
  },
  'get /v1/attempts/{attempt_id}': { ...ALWAYS, 404: ['not_found'] },
  'get /v1/tournaments': { ...ALWAYS, 400: ['invalid_request'] },
  'get /v1/tournaments/rounds/{round_id}/leaderboard': { ...ALWAYS, 400: ['invalid_request'], 404: ['not_found'] },
  'post /v1/integrations': { ...ALWAYS, 400: ['invalid_request'] },
  'get /v1/integrations': { ...ALWAYS },
  'patch /v1/integrations/{id}': { ...ALWAYS, 400: ['invalid_request'], 404: ['not_found'] },
  'post /v1/integrations/{id}/rotate-secret': { ...ALWAYS, 400: ['invalid_request'], 404: ['not_found'] },
  'delete /v1/integrations/{id}/previous-secret': { ...ALWAYS, 404: ['not_found'] },
};

const EVENTS = [
  'webhook.test',
  'attempt.settled',
  'attempt.refunded',
  'challenge.suspended',
  'round.settled',
  'round.cancelled',
  'award.released',
];

describe('the served OpenAPI document by itself', () => {
  let world: SharedWorld;
  let document: Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  formats.default(ajv);
  beforeAll(async () => {
    world = await joinWorld();
    const response = await fetch(`${world.stack.baseUrl}/openapi.json`, { headers: { connection: 'close' } });
    document = dereferenced((await response.json()) as Document);
    ajv.addSchema(document, 'openapi');
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ path, method, operation, name: `${method} ${path}` })),
    );

  /** Why the value does not match the schema at this path of the document; null if it does. */
  function misfit(location: readonly string[], value: unknown): string | null {
    const pointer = location
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const validate = ajv.compile({ $ref: `openapi#/${pointer}` });
    return validate(value)
      ? null
      : `${location.join(' ')}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`;
  }

  const JSON_SCHEMA = ['content', 'application/json', 'schema'];
  const examplesOf = (holder: Content | undefined) =>
    Object.values(holder?.content?.['application/json'].examples ?? {});

  test('the served document is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(
      JSON.parse(JSON.stringify(document)) as Record<string, unknown>,
    );
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
  });

  test('the served document lists exactly the codes of the contract for every status of every route', () => {
    const routes = operations().filter(({ path }) => path.startsWith('/v1'));
    expect(routes.map(({ name }) => name).sort()).toEqual(Object.keys(CODES).sort());
    for (const { name, operation } of routes) {
      const refusals = Object.entries(operation.responses).filter(
        ([status]) => Number(status) >= 400 && status !== '429',
      );
      const listed = Object.fromEntries(
        refusals.map(([status, response]) => {
          const media = response.content?.['application/json'];
          expect(media?.schema).toEqual({ $ref: '#/components/schemas/ErrorResponse' });
          const codes = Object.keys(media?.examples ?? {});
          const examples = examplesOf(response) as { value: { error: { code: string } } }[];
          expect(examples.map(({ value }) => value.error.code)).toEqual(codes);
          for (const code of codes) expect(response.description).toContain(`\`${code}\``);
          return [status, [...codes].sort()];
        }),
      );
      const wanted = Object.entries(CODES[name] ?? {}).map(([status, codes]) => [status, [...codes].sort()]);
      expect(listed, name).toEqual(Object.fromEntries(wanted));
    }
  });

  test('the served document has a complete and valid example of every body', () => {
    let seen = 0;
    for (const { path, method, operation, name } of operations()) {
      const location = ['paths', path, method];
      const bodies = operation.requestBody === undefined ? [] : examplesOf(operation.requestBody);
      if (operation.requestBody !== undefined) expect(bodies.length, name).toBeGreaterThan(0);
      for (const { value } of bodies) expect(misfit([...location, 'requestBody', ...JSON_SCHEMA], value)).toBeNull();
      for (const [status, response] of Object.entries(operation.responses)) {
        const examples = examplesOf(response);
        expect(examples.length, `${name} ${status}`).toBeGreaterThan(0);
        for (const { value } of examples) {
          expect(misfit([...location, 'responses', status, ...JSON_SCHEMA], value)).toBeNull();
          seen += 1;
        }
      }
      for (const [index, parameter] of (operation.parameters ?? []).entries()) {
        if (parameter.schema.example === undefined) continue;
        expect(misfit([...location, 'parameters', String(index), 'schema'], parameter.schema.example)).toBeNull();
      }
    }
    expect(seen).toBeGreaterThan(60);
  });

  test('the schema of AttemptRequest accepts exactly one parent', () => {
    const body = ['components', 'schemas', 'AttemptRequest'];
    const id = '01a19b7c-a680-74d5-8c30-75b7b3806f7f';
    expect(misfit(body, { player_ref: 'p', challenge_id: id })).toBeNull();
    expect(misfit(body, { player_ref: 'p', tournament_round_id: id })).toBeNull();
    expect(misfit(body, { player_ref: 'p' })).not.toBeNull();
    expect(misfit(body, { player_ref: 'p', challenge_id: id, tournament_round_id: id })).not.toBeNull();
  });

  test('no component schema of the served document is nullable', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect([schema.type].flat(), name).not.toContain('null');
      expect(misfit(['components', 'schemas', name], null), name).not.toBeNull();
    }
    const outcome = ['components', 'schemas', 'Attempt', 'properties', 'outcome'];
    expect(misfit(outcome, null)).toBeNull();
    expect(misfit(outcome, {})).not.toBeNull();
  });

  test('the served document names the headers of every response', () => {
    for (const { path, operation, name } of operations()) {
      for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
        const isKeyed = path.startsWith('/v1');
        const isIdempotent = operation.parameters?.some((parameter) => parameter.name === 'Idempotency-Key') === true;
        const wanted = [
          'X-Request-Id',
          ...(isKeyed ? ['X-RateLimit-Limit', 'X-RateLimit-Remaining'] : []),
          ...(isIdempotent && status.startsWith('2') ? ['Idempotency-Replayed'] : []),
          ...(status === '429' || (isIdempotent && status === '409') ? ['Retry-After'] : []),
        ];
        expect(Object.keys(headers).sort(), `${name} ${status}`).toEqual(wanted.sort());
        for (const [header, { $ref }] of Object.entries(headers)) {
          expect($ref).toBe(`#/components/headers/${header}`);
          expect(document.components.headers[header]).toMatchObject({ description: expect.stringMatching(/\S/) });
        }
      }
    }
  });

  test('the served document describes the limits that a schema cannot express', () => {
    for (const limit of [
      '256 KiB',
      '64 levels',
      'twice',
      '`Content-Type: application/json`',
      '16 KiB',
      '64 KiB',
      '255',
    ]) {
      expect(document.info.description).toContain(limit);
    }
    const key = operations()
      .flatMap(({ operation }) => operation.parameters ?? [])
      .filter(({ name }) => name === 'Idempotency-Key');
    expect(key.map(({ required, schema }) => [required, schema.maxLength])).toEqual(Array(3).fill([true, 255]));
  });

  test('the served document describes every event', async () => {
    expect(Object.keys(document.webhooks)).toEqual(EVENTS);
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      const [example] = examplesOf(post.requestBody);
      expect(misfit(['webhooks', type, 'post', 'requestBody', ...JSON_SCHEMA], example?.value)).toBeNull();
      expect(example?.value).toMatchObject({ event: type });
      const header = (name: string) => String(post.parameters?.find((one) => one.name === name)?.schema.example);
      for (const [index, parameter] of (post.parameters ?? []).entries()) {
        expect([parameter.in, parameter.required], parameter.name).toEqual(['header', true]);
        const location = ['webhooks', type, 'post', 'parameters', String(index), 'schema'];
        expect(misfit(location, parameter.schema.example)).toBeNull();
      }
      const body = JSON.stringify(example?.value);
      const secret = /`(whsec_[0-9a-f]{64})`/.exec(JSON.stringify(post.parameters))?.[1] ?? expect.fail('no secret');
      expect(await verify(secret, body, header('X-Webhook-Signature'))).toBe(true);
      expect(header('X-Webhook-Event')).toBe(type);
      expect(header('webhook-id')).toBe(header('X-Webhook-Delivery-Id'));
      // That library also checks the age of a message against the clock.
      const signature = new Webhook(secret).sign(
        header('webhook-id'),
        new Date(Number(header('webhook-timestamp')) * 1_000),
        body,
      );
      expect(header('webhook-signature')).toBe(signature);
    }
  });
});
