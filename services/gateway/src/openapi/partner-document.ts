/**
 * Turns the routes of `/v1` into OpenAPI 3.1. Nothing is described twice: routes and schemas are
 * those that the gateway runs, and a route's refusals are the codes listed under each status.
 * Headers, examples and webhooks have files of their own.
 */
import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import type { ErrorCode } from '@laurel/errors';
import { MAX_DEPTH } from '@laurel/json';
import { MAX_BODY_BYTES } from '@laurel/values/limits';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS } from '../domain/idempotency-key.ts';
import { V1_AREA } from '../http/route.ts';
import { z } from '../http/zod.ts';
import { registerComponents } from '../routes/component.ts';
import { SIGNING_KEY_LIST_PATH } from '../routes/signing-key-list.ts';
import { V1_ROUTES } from '../routes/v1/index.ts';
import type { V1Route } from '../routes/v1/route.ts';
import { partnerErrorSchema, retiredSchema } from './error-schemas.ts';
import { errorExamples } from './examples/errors.ts';
import {
  EXAMPLE_IDEMPOTENCY_KEY,
  KEY_LIST_EXAMPLES,
  partnerExamplesOf,
  partnerParameterOf,
  RETIRED_EXAMPLES,
} from './examples/partner-examples.ts';
import { headersNamed, registerHeaders } from './headers.ts';
import { normalizeDocument, type OpenApiDocument } from './normalize.ts';
import { operationOf, type Refusals } from './operation.ts';
import { registerPushedOutcome } from './pushed-outcome.ts';
import { jsonContent } from './responses.ts';
import { SERVERS } from './servers.ts';
import { signingKeyListSchema } from './signing-key-list-schema.ts';
import { registerWebhooks } from './webhooks.ts';

const DESCRIPTION = [
  [
    'Paid skill contests for partner game servers. Every request carries `X-API-Key`; the key decides the program and the environment:',
    '`sk_test_` is the sandbox, `sk_live_` is production. Amounts of money are decimal strings in USD, timestamps are ISO 8601 in UTC',
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
    'Laurel checks a request in this order and responds with the first refusal: 401, 429, 400, the idempotency conflicts of 409, 404, the',
    'other conflicts, 403, 402. An unknown path, a method that a path does not take (`Allow` says which it does) and a malformed id in a path',
    'are 404 `not_found`, with one exception: when a distribution is sent, an id that names no challenge of the program is 400.',
  ].join(' '),
].join('\n\n');

const TAGS = [
  {
    name: 'Challenges',
    description: 'Fixed prizes for reaching a bar: the list that a player may attempt, and percentiles that set a bar.',
  },
  { name: 'Players', description: "Links from the partner's own player identifiers to accounts." },
  { name: 'Attempts', description: 'Paid attempts: creation charges the fee, and the reported score decides.' },
  { name: 'Tournaments', description: 'Rounds that pay a purse by rank, and their leaderboards.' },
  {
    name: 'Integrations',
    description: 'Ways for outcomes to reach Laurel besides `/v1`: the partner pushes them, or Laurel polls.',
  },
  {
    name: 'Pushed outcomes',
    description:
      'The route that receives the outcomes of an integration: signed, without an API key, and not below `/v1`.',
  },
  {
    name: 'Webhooks',
    description: "Events that Laurel sends to the partner's endpoints. A developer registers endpoints in the portal.",
  },
  {
    name: 'Signing keys',
    description: 'The keys that sign receipts and seals. The list is public, and not below `/v1`.',
  },
  { name: 'Retired', description: 'Routes that no longer work.' },
] as const;

const IDEMPOTENCY_REFUSALS: Partial<Record<ErrorCode, string>> = {
  idempotency_key_reused: 'The key was used with another request on this endpoint.',
  idempotency_in_progress: 'The first request with this key is still in progress; retry after `Retry-After` seconds.',
};
const UNIVERSAL_REFUSALS: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'The API key failed. The response does not say why.',
  internal_error:
    'Laurel failed to process the request. Send the same request again, with the same `Idempotency-Key` if it takes one.',
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
      'A key of the program: `sk_test_` keys are for the sandbox, `sk_live_` keys for production. Keep it on a server, never in a game or a browser.',
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
        description:
          'Up to 255 characters, kept for 24 hours. A repeated request with the same key and body acts once and gets the same response.',
        example: EXAMPLE_IDEMPOTENCY_KEY,
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
      examples: partnerExamplesOf(route.name),
      errorExamplesOf: (codes) => errorExamples(route.name, codes),
      limited: 'The request exceeds the limit of this minute. The body is not the error envelope.',
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
    description: 'The response is always 410, for any path. It needs no key and no body.',
    deprecated: true,
    security: [],
    request: {
      params: z.object({
        id: z.string().openapi({
          description: 'Anything.',
          example: partnerParameterOf('getAttempt', '/v1/attempts/{attempt_id}', 'attempt_id'),
        }),
      }),
    },
    responses: {
      410: {
        description: 'Report outcomes from the game server instead. The body is not the error envelope.',
        headers: headersNamed('X-Request-Id'),
        ...jsonContent(retiredSchema, RETIRED_EXAMPLES),
      },
    },
  });
  registry.registerPath({
    method: 'get',
    path: SIGNING_KEY_LIST_PATH,
    operationId: 'listSigningKeys',
    tags: ['Signing keys'],
    summary: 'List the keys that sign receipts and seals',
    description:
      'A receipt or seal names its key by `key_id`. A key is valid for documents dated from `from` until before `until`. Replaced keys stay in the list. The route needs no API key.',
    security: [],
    responses: {
      200: {
        description: 'Every key ever used, oldest first.',
        headers: headersNamed('X-Request-Id'),
        ...jsonContent(signingKeyListSchema, KEY_LIST_EXAMPLES),
      },
      500: {
        description: '- `internal_error`: The list is not available now; ask again.',
        headers: headersNamed('X-Request-Id'),
        ...jsonContent(partnerErrorSchema, errorExamples('listSigningKeys', ['internal_error'])),
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
  return normalizeDocument(document, ['WebhookEvent']);
}

/** `/attempts/{attempt_id}` gets the tag `Attempts`. */
function tagOf({ path }: V1Route<never>): string {
  const resource = path.split('/')[1] ?? '';
  const tag = TAGS.find(({ name }) => name.toLowerCase() === resource);
  if (tag === undefined) throw new Error(`no tag describes ${path}`);
  return tag.name;
}

/** Every parameter is an id. If a route refuses with 404, a malformed id is not found either. */
function paramsOf({ name: routeName, path, refusals }: V1Route<never>): z.ZodObject | undefined {
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [
    name,
    z.string().openapi({
      format: 'uuid',
      description: `A malformed id gets ${refusals?.not_found === undefined ? 400 : 404}.`,
      example: partnerParameterOf(routeName, `${V1_AREA.prefix}${path}`, name ?? ''),
    }),
  ]);
  return params.length === 0 ? undefined : z.object(Object.fromEntries(params));
}

function refusalsOf(route: V1Route<never>): Refusals {
  return { ...route.refusals, ...(route.mintOperationId !== undefined && IDEMPOTENCY_REFUSALS), ...UNIVERSAL_REFUSALS };
}
