/** The shapes of integrations and of pushed outcomes. Routes check with them; the documents are generated from them. */
import { z } from '../../http/zod.ts';
import { outcomeSchema, timestamp, uuid } from './schemas.ts';

export const MAX_DESCRIPTOR_KIB = 16;
const MIN_PULL_INTERVAL_SECONDS = 30;
/** What the integration service can keep. */
const MAX_PULL_INTERVAL_SECONDS = 2 ** 31 - 1;
const SECRET_PATTERN = '^[0-9a-f]{64}$';

export const transport = z.enum(['push_webhook', 'pull_poll', 'sdk_direct']);
const status = z.enum(['draft', 'active', 'suspended']);

/** The integration service reads its members. */
export const descriptor = z
  .custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'must be an object')
  .openapi({
    type: 'object',
    additionalProperties: true,
    description: `How the payloads of the partner are read; at most ${MAX_DESCRIPTOR_KIB} KiB. \`{}\` reads the canonical body.`,
  });

const pullIntervalSeconds = z.int().min(MIN_PULL_INTERVAL_SECONDS).max(MAX_PULL_INTERVAL_SECONDS);

export const createIntegrationBody = z
  .object({
    transport: transport.openapi({
      description:
        '`push_webhook`: the partner posts outcomes and gets a signing secret. `pull_poll`: Laurel polls a URL of the partner. `sdk_direct`: the partner calls `/v1`; nothing to configure.',
    }),
    descriptor: descriptor.optional(),
    pull_interval_seconds: pullIntervalSeconds.optional().openapi({ description: 'For `pull_poll` alone.' }),
  })
  .openapi('IntegrationRequest');

export const updateIntegrationBody = z
  .object({
    descriptor: descriptor.optional(),
    status: status.optional(),
    pull_interval_seconds: pullIntervalSeconds.optional(),
  })
  .openapi('IntegrationChange');

const integrationFields = {
  id: uuid,
  transport,
  status,
  descriptor: z
    .record(z.string(), z.unknown())
    .openapi({ description: 'As it was sent, without the secret values of `pull.auth`.' }),
  has_signing_secret: z.boolean().openapi({ description: 'Whether a push can be verified.' }),
  pull_interval_seconds: z.int().nullable().openapi({ description: 'For `pull_poll` alone.' }),
  last_polled_at: timestamp.nullable(),
  next_poll_at: timestamp.nullable(),
  consecutive_failures: z.int().openapi({ description: 'Polls that failed since the last one that did not.' }),
  last_poll_error: z
    .string()
    .nullable()
    .openapi({ description: 'The kind of the latest failure, for example `timeout`.' }),
  created_at: timestamp,
};
const signingSecret = z
  .string()
  .openapi({ pattern: SECRET_PATTERN, description: 'Shown by this answer alone. Its 64 characters are the key.' });

export const integrationSchema = z.object(integrationFields).openapi('Integration');

export const integrationListSchema = z.object({ data: z.array(integrationSchema) }).openapi('IntegrationList');

export const newIntegrationSchema = z
  .object({
    ...integrationFields,
    signing_secret: signingSecret.optional(),
    webhook_url: z.string().optional().openapi({ description: 'A path of this host.' }),
    signing_instructions: z.string().optional(),
  })
  .openapi('NewIntegration', { description: 'The last three members: for `push_webhook` alone.' });

export const rotatedIntegrationSchema = z
  .object({ ...integrationFields, signing_secret: signingSecret, note: z.string() })
  .openapi('RotatedIntegration');

// Pushed outcomes.

/** With the descriptor `{}`; with another one, whatever that reads. */
export const pushedBody = z
  .union([z.record(z.string(), z.unknown()), z.array(z.record(z.string(), z.unknown())).max(100)])
  .openapi({
    description:
      'With the descriptor `{}` a record is `{attempt_id, score, tiebreak?, evidence?}`. One record, or an array of up to 100.',
  });

const pushResultsSchema = z
  .object({
    results: z.array(
      z
        .object({
          index: z.int().openapi({ description: 'The place of the record in the body, from 0.' }),
          attempt_id: uuid.nullable().openapi({ description: 'Null when no attempt was found.' }),
          status: z.enum(['settled', 'duplicate', 'ignored', 'rejected', 'listened']).openapi({
            description:
              '`duplicate`: settled before by the same report. `ignored`: the descriptor leaves it out. `listened`: a score without an attempt, kept for the calibration of its challenge.',
          }),
          code: z.string().optional().openapi({ description: 'Why it was rejected.' }),
        })
        .openapi('PushResult'),
    ),
  })
  .openapi('PushResults');

export const pushAnswerSchema = z.union([outcomeSchema, pushResultsSchema]);
