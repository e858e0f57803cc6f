/** How the documents state the refusals and the bodies of routes. */
import type { ResponseConfig } from '@asteasolutions/zod-to-openapi';
import { type ApiErrorCode, HTTP_STATUS } from '@laurel/errors';
import { RETRY_AFTER_HEADER } from '../domain/rate-limit-headers.ts';
import type { z } from '../http/zod.ts';
import { rateLimitSchema } from './error-schemas.ts';
import type { Examples } from './examples/example.ts';
import { COMMON_HEADERS, type HeaderName, headersNamed } from './headers.ts';

/**
 * One response per status. The names of its examples are exactly the codes that the response may
 * have. All responses share one schema, so that generators make one error type, not one for each
 * status of each route.
 */
export function errorResponses<Code extends ApiErrorCode>(
  refusals: Partial<Record<Code, string>>,
  examplesOf: (codes: readonly Code[]) => Examples,
  headers: readonly HeaderName[] = COMMON_HEADERS,
): Record<string, ResponseConfig> {
  const codes = Object.keys(refusals) as Code[];
  const byStatus = Map.groupBy(codes, (code) => HTTP_STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, listed]) => [
      status,
      {
        description: listed.map((code) => `- \`${code}\`: ${refusals[code]}`).join('\n'),
        headers: headersNamed(
          ...headers,
          ...(listed.some((code) => code === 'idempotency_in_progress') ? ([RETRY_AFTER_HEADER] as const) : []),
        ),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/ErrorResponse' },
            examples: { ...examplesOf(listed) },
          },
        },
      },
    ]),
  );
}

/** The limiter's response, which any route may give. */
export function limitedResponse(
  description: string,
  examples: Examples,
  headers: readonly HeaderName[] = COMMON_HEADERS,
): ResponseConfig {
  return {
    description,
    headers: headersNamed(...headers, RETRY_AFTER_HEADER),
    ...jsonContent(rateLimitSchema, examples),
  };
}

export function jsonContent(schema: z.ZodType, examples?: Examples) {
  return { content: { 'application/json': { schema, ...(examples !== undefined && { examples: { ...examples } }) } } };
}
