/**
 * The route to which partners push outcomes. It is not part of `/v1`, and is described beside it.
 */
import { createHmac } from 'node:crypto';
import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import type { ErrorCode } from '@laurel/errors';
import { z } from '../http/zod.ts';
import { NOT_SIGNED_MESSAGE, PUSH_PATH } from '../routes/push-outcome.ts';
import { pushAnswerSchema, pushedBody } from '../routes/v1/integration-schemas.ts';
import { errorExamples, RATE_LIMIT_EXAMPLES } from './examples/errors.ts';
import type { Examples } from './examples/example.ts';
import { partnerExamplesOf, partnerParameterOf } from './examples/partner-examples.ts';
import { EXAMPLE_SIGNING_SECRET } from './examples/secrets.ts';
import { headersNamed } from './headers.ts';
import { errorResponses, jsonContent, limitedResponse } from './responses.ts';

const NAME = 'pushOutcome';
const HEADERS = ['X-Request-Id'] as const;

const REFUSALS: Partial<Record<ErrorCode, string>> = {
  invalid_request:
    'The body is larger than 256 KiB, compressed or not JSON, is one record that the descriptor cannot read, or has more than 100 records.',
  unauthorized: 'The signature failed, or the integration is unknown. The response does not say which.',
  not_found: 'The integration is not `active`, or its program has no such attempt.',
  attempt_already_settled: 'The attempt is no longer open, and was settled by another report.',
  round_closed: 'The round no longer accepts scores; the attempt expires and its entry is refunded.',
  score_out_of_range:
    'The score is outside the plausibility window that the challenge declares; the attempt expires and is refunded.',
  tiebreak_required: 'The tournament declares a tiebreak metric; the attempt stays open for a report with one.',
  internal_error: 'Laurel failed to process the request. Send the same body again.',
};

const SIGNATURE = [
  '`sha256=` and the HMAC-SHA256 of the raw body in hex, in either case, keyed with the UTF-8 bytes of the 64 characters of the signing secret.',
  `The secret of the examples is \`${EXAMPLE_SIGNING_SECRET}\`; it signs the first example without any whitespace.`,
].join(' ');

export function registerPushedOutcome(registry: OpenAPIRegistry): void {
  const { request: requests, response: responses } = partnerExamplesOf(NAME);
  const signed = createHmac('sha256', EXAMPLE_SIGNING_SECRET).update(JSON.stringify(requests?.record?.value));
  registry.registerPath({
    method: 'post',
    path: PUSH_PATH,
    operationId: NAME,
    tags: ['Pushed outcomes'],
    summary: 'Push outcomes to an integration',
    description:
      'For an `active` integration with the transport `push_webhook`. Its descriptor reads the body. The signature replaces the API key. A single record gets the same response as an outcome of `/v1`; a repeated report gets its first response. Requests a minute are limited for each integration and for each client address.',
    security: [],
    request: {
      params: z.object({
        id: z.string().openapi({
          format: 'uuid',
          example: partnerParameterOf(NAME, PUSH_PATH, 'id'),
          description: 'The integration.',
        }),
      }),
      headers: z.object({
        'X-Service-Signature': z.string().openapi({
          pattern: '^[Ss][Hh][Aa]256=[0-9a-fA-F]{64}$',
          description: SIGNATURE,
          example: `sha256=${signed.digest('hex')}`,
        }),
      }),
      body: { required: true, ...jsonContent(pushedBody, requests) },
    },
    responses: {
      200: {
        description:
          'One record that settles its attempt gets the outcome. Several records, no records (an empty, null or absent list), or one record that settles nothing get a list with the result of each record.',
        headers: headersNamed(...HEADERS),
        ...jsonContent(pushAnswerSchema, responses),
      },
      ...errorResponses(REFUSALS, examplesOf, HEADERS),
      429: limitedResponse(
        'The request exceeds the limit of a minute, of pushes in progress, or of bytes a second before the first valid signature. The body is not the error envelope.',
        RATE_LIMIT_EXAMPLES,
        HEADERS,
      ),
    },
  });
}

function examplesOf(codes: readonly ErrorCode[]): Examples {
  const { unauthorized, ...examples } = errorExamples(NAME, codes);
  if (unauthorized === undefined) return examples;
  return {
    ...examples,
    unauthorized: { ...unauthorized, value: { error: { code: 'unauthorized', message: NOT_SIGNED_MESSAGE } } },
  };
}
