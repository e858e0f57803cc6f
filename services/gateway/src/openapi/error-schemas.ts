/**
 * The schema of the error envelope. Each document has this schema with its own set of codes. This
 * file also has the two error responses that are not the envelope.
 */
import { type ApiErrorCode, HTTP_STATUS } from '@laurel/errors';
import { z } from '../http/zod.ts';
import { component } from '../routes/component.ts';
import { timestamp } from '../routes/v1/fields.ts';

const validationIssue = z
  .object({
    field: z.string().optional().openapi({ description: 'Absent if the issue concerns the whole body or query.' }),
    message: z.string(),
  })
  .openapi('ValidationIssue', { description: 'For people; its wording may change at any time.' });

const errorDetails = z.object({ issues: z.array(validationIssue).optional() }).openapi('ErrorDetails', {
  description: 'For people who read logs: members may be added.',
  additionalProperties: true,
});

export function errorSchemaOf(codes: readonly ApiErrorCode[], description: string) {
  const code = z.enum(codes).openapi('ErrorCode', { description });
  const error = z
    .object({
      code,
      message: z.string().openapi({ description: 'For people; its wording may change at any time.' }),
      details: errorDetails.optional().openapi({ description: 'Present only in some 400 responses.' }),
    })
    .openapi('ApiError');
  return z.object({ error }).openapi('ErrorResponse');
}

const ALL_CODES = Object.keys(HTTP_STATUS) as ApiErrorCode[];
const ENVELOPE_CODES = ALL_CODES.filter((code) => code !== 'client_reporting_removed');
const OWN_CODES: readonly ApiErrorCode[] = ['forbidden', 'conflict'];

/** Every code of `/v1` except the retired route's, whose body has another shape. */
export const partnerErrorSchema = errorSchemaOf(
  ENVELOPE_CODES.filter((code) => !OWN_CODES.includes(code)),
  'Branch on this, never on the message. The set is closed.',
);

export const ownErrorSchema = errorSchemaOf(ENVELOPE_CODES, 'Branch on this, never on the message.');

/** The limiter's response, which is not the envelope. */
export const rateLimitSchema = component(
  'RateLimitResponse',
  z.object({
    error: z.string().openapi({ description: 'For people; its wording may change at any time.' }),
    retry_after: z.int().openapi({ description: 'Seconds to wait before the next try.' }),
    limit: z.int().openapi({ description: 'The limit of requests a minute.' }),
    reset_at: timestamp,
  }),
);

export const retiredSchema = component(
  'ClientReportingRemoved',
  z.object({ error: z.string(), code: z.literal('client_reporting_removed') }),
);
