/**
 * The route to which partners push outcomes. It is not part of `/v1`, and is described beside it.
 */
import { createHmac } from 'node:crypto';
import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import type { ErrorCode } from '@laurel/errors';
import { z } from '../http/zod.ts';
import { NOT_SIGNED, PUSH_PATH } from '../routes/push-outcome.ts';
import { pushAnswerSchema, pushedBody } from '../routes/v1/integration-schemas.ts';
import { errorExamples, RATE_LIMIT_EXAMPLES } from './examples/errors.ts';
import type { Examples } from './examples/example.ts';
import { RESPONSE_EXAMPLES } from './examples/partner-answers.ts';
import { PARAMETER_EXAMPLES, REQUEST_EXAMPLES } from './examples/partner-requests.ts';
import { EXAMPLE_SIGNING_SECRET } from './examples/story.ts';
import { headersNamed } from './headers.ts';
import { errorResponses, json, limitedResponse } from './responses.ts';

const NAME = 'pushOutcome';
const HEADERS = ['X-Request-Id'] as const;

const REFUSALS: Partial<Record<ErrorCode, string>> = {
  invalid_request:
    'The body is larger than 256 KiB, compressed, no JSON, one record that the descriptor cannot read, or has more than 100 records.',
  unauthorized: 'Any failure of the signature, and an unknown integration: all of them answer alike.',
  not_found: 'The integration is not `active`, or no such attempt of its program is there.',
  attempt_already_settled: 'The attempt is no longer open, and was settled by another report.',
  round_closed: 'The round no longer accepts scores; the attempt expires and its entry is refunded.',
  score_out_of_range:
    'Outside the plausibility window that the challenge declares; the attempt expires and is refunded.',
  tiebreak_required: 'The tournament declares a tiebreak metric; the attempt stays open for a report with one.',
  internal_error: 'A failure on our side: send the same body again.',
};

const SIGNATURE = [
  '`sha256=` and the HMAC-SHA256 of the raw body in hex, in either case, keyed with the UTF-8 bytes of the 64 characters of the signing secret.',
  `The secret of this document is \`${EXAMPLE_SIGNING_SECRET}\`; what it signs is the first example without any whitespace.`,
].join(' ');

export function registerPushedOutcome(registry: OpenAPIRegistry): void {
  const requests = REQUEST_EXAMPLES[NAME];
  const signed = createHmac('sha256', EXAMPLE_SIGNING_SECRET).update(JSON.stringify(requests?.record?.value));
  registry.registerPath({
    method: 'post',
    path: PUSH_PATH,
    operationId: NAME,
    tags: ['Pushed outcomes'],
    summary: 'Push outcomes to an integration',
    description:
      'For an `active` integration of the transport `push_webhook`, whose descriptor reads the body. The signature takes the place of a key. A single record answers as the outcome of `/v1` does; the same report again gets its first answer. Limited by the minute for each integration and for each client address.',
    security: [],
    request: {
      params: z.object({
        id: z.string().openapi({ format: 'uuid', example: PARAMETER_EXAMPLES.id, description: 'The integration.' }),
      }),
      headers: z.object({
        'X-Service-Signature': z.string().openapi({
          pattern: '^[Ss][Hh][Aa]256=[0-9a-fA-F]{64}$',
          description: SIGNATURE,
          example: `sha256=${signed.digest('hex')}`,
        }),
      }),
      body: { required: true, ...json(pushedBody, requests) },
    },
    responses: {
      200: {
        description:
          'The outcome of the one record; of several, of none (an empty, null or absent list), or of one that settles nothing, what became of each.',
        headers: headersNamed(...HEADERS),
        ...json(pushAnswerSchema, RESPONSE_EXAMPLES[NAME]),
      },
      ...errorResponses(REFUSALS, examplesOf, HEADERS),
      429: limitedResponse(
        'Over a limit of the minute, of pushes under way, or of bytes a second until the first valid signature. Not the envelope.',
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
    unauthorized: { ...unauthorized, value: { error: { code: 'unauthorized', message: NOT_SIGNED } } },
  };
}
