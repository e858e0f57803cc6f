/**
 * Turns the routes of `/v1` into OpenAPI 3.1. Nothing is described twice: routes and schemas are
 * those that the gateway runs, and a route's refusals are the codes listed under each status.
 * Headers, examples and webhooks have files of their own.
 */
import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import type { ErrorCode } from '@laurel/errors';
import { MAX_DEPTH } from '@laurel/json';
import { MAX_BODY_BYTES } from '@laurel/limits';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../domain/idempotency-key.ts';
import { V1_AREA } from '../http/route.ts';
import { z } from '../http/zod.ts';
import { registerComponents } from '../routes/component.ts';
import { KEY_LIST_PATH } from '../routes/key-list.ts';
import { V1_ROUTES } from '../routes/v1/index.ts';
import type { V1Route } from '../routes/v1/route.ts';
import { partnerErrorSchema, retiredSchema } from './error-schemas.ts';
import { errorExamples } from './examples/errors.ts';
import { KEY_LIST_EXAMPLES, RESPONSE_EXAMPLES, RETIRED_EXAMPLES } from './examples/partner-answers.ts';
import { PARAMETER_EXAMPLES, parameterExample, REQUEST_EXAMPLES } from './examples/partner-requests.ts';
import { headersNamed, registerHeaders } from './headers.ts';
import { keyListSchema } from './key-list-schema.ts';
import { operationOf, type Refusals } from './operation.ts';
import { type OpenApiDocument, polish } from './polish.ts';
import { registerPushedOutcome } from './pushed-outcome.ts';
import { json } from './responses.ts';
import { SERVERS } from './servers.ts';
import { registerWebhooks } from './webhooks.ts';

const DESCRIPTION = [
  [
    'Paid skill contests for partner game servers. Every request carries `X-API-Key`; the key decides the program and the environment:',
    '`sk_test_` is the sandbox, `sk_live_` is production. Money is decimal strings in USD, timestamps are ISO 8601 in UTC',
    'with milliseconds. Clients must tolerate added fields. Branch on `error.code`, never on the message.',
  ].join(' '),
  [
    `A body is JSON in UTF-8 of at most ${MAX_BODY_BYTES / 1024} KiB, sent as \`Content-Type: application/json\`: any parameter is accepted,`,
    'but no `charset` other than `utf-8`. It must not be compressed, nest',
    `deeper than ${MAX_DEPTH} levels, name a member twice in one object, or hold a number beyond a double, text that is not valid Unicode, or NUL.`,
    '`metadata` and a `descriptor` may have 16 KiB and `evidence` 64 KiB, a `player_ref` and an `Idempotency-Key` 255 characters. Whatever breaks one of',
    'these is 400 `invalid_request`. Unknown members are ignored.',
  ].join(' '),
  [
    'A request is checked in this order, and the first refusal is the answer: 401, 429, 400, the idempotency conflicts of 409, 404, the',
    'other conflicts, 403, 402. An unknown path, a method that a path does not take (`Allow` says which it does) and a malformed id in a path',
    'are 404 `not_found`; only where a distribution is sent, an id that names no challenge of the program is 400.',
  ].join(' '),
].join('\n\n');

const TAGS = [
  {
    name: 'Challenges',
    description:
      'Fixed prizes against a bar: which of them a player may attempt, and the percentiles that place a bar.',
  },
  { name: 'Players', description: "The partner's own identifiers of players, linked to their accounts." },
  { name: 'Attempts', description: 'Paid attempts: the fee is charged at creation, and the reported score decides.' },
  { name: 'Tournaments', description: 'Rounds that pay a purse by rank, and their leaderboards.' },
  {
    name: 'Integrations',
    description: 'How outcomes reach Laurel other than by `/v1`: pushed by the partner, or polled.',
  },
  {
    name: 'Pushed outcomes',
    description: 'Where an integration receives outcomes: signed, and without an API key. Not below `/v1`.',
  },
  {
    name: 'Webhooks',
    description: "What Laurel sends to the partner's endpoints, which a developer registers in the portal.",
  },
  { name: 'Signing keys', description: 'What receipts and seals are signed with. Public, and not below `/v1`.' },
  { name: 'Retired', description: 'Routes that are gone.' },
] as const;

const IDEMPOTENCY_REFUSALS: Partial<Record<ErrorCode, string>> = {
  idempotency_key_reused: 'The key was used with another request on this endpoint.',
  idempotency_in_progress: 'The first request with this key is still in flight; retry after `Retry-After` seconds.',
};
const UNIVERSAL_REFUSALS: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Any key failure: all of them answer alike.',
  internal_error:
    'A failure on our side: send the same request again, with the same `Idempotency-Key` where it takes one.',
};

/**
 * The document for partners: `/v1`, the route for pushed outcomes, the retired route and the list
 * of signing keys.
 */
export function partnerDocument(): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'ApiKey', {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description:
      'A key of the program: `sk_test_` is of the sandbox, `sk_live_` of production. It belongs on a server, never in a game or a browser.',
  });
  registerHeaders(registry);
  registerComponents(registry);
  registry.register('ErrorResponse', partnerErrorSchema);
  const idempotencyKey = registry.registerParameter(
    'IdempotencyKey',
    z.string().openapi({
      param: {
        name: 'Idempotency-Key',
        in: 'header',
        required: true,
        description: 'Up to 255 characters, kept 24 hours. The same key with the same body answers the same, once.',
        example: PARAMETER_EXAMPLES.idempotency_key,
      },
      minLength: 1,
      maxLength: MAX_IDEMPOTENCY_KEY_CHARACTERS,
    }),
  );
  for (const route of V1_ROUTES) {
    const operation = operationOf(route, {
      area: V1_AREA,
      tag: tagOf(route),
      params: paramsOf(route),
      idempotencyKey,
      refusals: refusalsOf(route),
      examples: { request: REQUEST_EXAMPLES[route.name], response: RESPONSE_EXAMPLES[route.name] },
      errorExamplesOf: (codes) => errorExamples(route.name, codes),
      limited: 'Over the limit of this minute. Not the envelope.',
    });
    registry.registerPath(operation);
  }
  registerPushedOutcome(registry);
  registry.registerPath({
    method: 'post',
    path: '/api/attempts/{id}/outcome',
    operationId: 'reportOutcomeFromBrowser',
    tags: ['Retired'],
    summary: 'Report an outcome from the browser (retired)',
    description: 'Always 410, whatever stands in the path. Needs no key and no body.',
    deprecated: true,
    security: [],
    request: {
      params: z.object({
        id: z.string().openapi({ description: 'Anything.', example: PARAMETER_EXAMPLES.attempt_id }),
      }),
    },
    responses: {
      410: {
        description: 'Report outcomes from the game server. Not the envelope.',
        headers: headersNamed('X-Request-Id'),
        ...json(retiredSchema, RETIRED_EXAMPLES),
      },
    },
  });
  registry.registerPath({
    method: 'get',
    path: KEY_LIST_PATH,
    operationId: 'listSigningKeys',
    tags: ['Signing keys'],
    summary: 'List the keys that sign receipts and seals',
    description:
      'What is signed names its key by `key_id`. A key counts for what is dated from `from` until before `until`; keys that were replaced stay listed. Needs no key of yours.',
    security: [],
    responses: {
      200: {
        description: 'Every key that there ever was, oldest first.',
        headers: headersNamed('X-Request-Id'),
        ...json(keyListSchema, KEY_LIST_EXAMPLES),
      },
      500: {
        description: '- `internal_error`: The list is not at hand; ask again.',
        headers: headersNamed('X-Request-Id'),
        ...json(partnerErrorSchema, errorExamples('listSigningKeys', ['internal_error'])),
      },
    },
  });
  registerWebhooks(registry);
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Partner Scoring and Payout API',
      version: 'v1',
      description: DESCRIPTION,
    },
    servers: SERVERS,
    externalDocs: { url: '/docs', description: 'Guides, and this reference as pages.' },
    tags: TAGS.map((tag) => ({ ...tag })),
    security: [{ ApiKey: [] }],
  });
  return polish(document, ['WebhookEvent']);
}

/** `/attempts/{attempt_id}` gets the tag `Attempts`. */
function tagOf({ path }: V1Route<never>): string {
  const resource = path.split('/')[1] ?? '';
  const tag = TAGS.find(({ name }) => name.toLowerCase() === resource);
  if (tag === undefined) throw new Error(`no tag describes ${path}`);
  return tag.name;
}

/** Every parameter is an id. If a route refuses with 404, a malformed id is not found either. */
function paramsOf({ path, refusals }: V1Route<never>): z.ZodObject | undefined {
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [
    name,
    z.string().openapi({
      format: 'uuid',
      description: `A malformed one names nothing: ${refusals?.not_found === undefined ? 400 : 404}.`,
      example: parameterExample(path, name ?? ''),
    }),
  ]);
  return params.length === 0 ? undefined : z.object(Object.fromEntries(params));
}

function refusalsOf(route: V1Route<never>): Refusals {
  return { ...route.refusals, ...(route.mintOperationId !== undefined && IDEMPOTENCY_REFUSALS), ...UNIVERSAL_REFUSALS };
}
