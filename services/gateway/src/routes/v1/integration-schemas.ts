/**
 * The shapes of integrations and of pushed outcomes. Routes check with them; the documents are
 * generated from them.
 */
import {
  MAX_DESCRIPTOR_BYTES,
  MAX_POLL_INTERVAL_SECONDS,
  MAX_RECORDS,
  MIN_POLL_INTERVAL_SECONDS,
} from '@laurel/values/limits';
import { z } from '../../http/zod.ts';
import { component } from '../component.ts';
import { outcomeSchema } from './attempt-schemas.ts';
import { timestamp, uuid } from './fields.ts';

const SECRET_PATTERN = '^[0-9a-f]{64}$';

export const transport = component('Transport', z.enum(['push_webhook', 'pull_poll', 'sdk_direct']), {
  description:
    '`push_webhook`: the partner gets a signing secret and posts outcomes. `pull_poll`: Laurel polls a URL of the partner. `sdk_direct`: the partner calls `/v1`, and nothing needs to be configured.',
});
const status = component('IntegrationStatus', z.enum(['draft', 'active', 'suspended']));

/** The integration service reads its members. */
export const descriptor = component(
  'Descriptor',
  z.custom<object>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  ),
  {
    type: 'object',
    additionalProperties: true,
    description: `How Laurel reads the partner's payloads; at most ${MAX_DESCRIPTOR_BYTES / 1024} KiB. \`{}\` reads the canonical body.`,
  },
);

const pullIntervalSeconds = z.int().min(MIN_POLL_INTERVAL_SECONDS).max(MAX_POLL_INTERVAL_SECONDS);

export const createIntegrationBody = component(
  'IntegrationRequest',
  z.object({
    transport,
    descriptor: descriptor.optional(),
    pull_interval_seconds: pullIntervalSeconds.optional().openapi({ description: 'Only for `pull_poll`.' }),
  }),
);

export const updateIntegrationBody = component(
  'IntegrationChange',
  z.object({
    descriptor: descriptor.optional(),
    status: status.optional(),
    pull_interval_seconds: pullIntervalSeconds.optional(),
  }),
  { description: 'Members that are absent stay unchanged.' },
);

const integrationFields = {
  id: uuid,
  transport,
  status,
  descriptor: descriptor.openapi({
    description: 'The descriptor that was sent, without the secret values of `pull.auth`.',
  }),
  has_signing_secret: z.boolean().openapi({ description: 'Whether Laurel can verify a push.' }),
  pull_interval_seconds: z.int().nullable().openapi({ description: 'Null unless the transport is `pull_poll`.' }),
  last_polled_at: timestamp.nullable(),
  next_poll_at: timestamp.nullable(),
  consecutive_failures: z.int().openapi({ description: 'Failed polls since the last successful one.' }),
  last_poll_error: z.string().nullable().openapi({ description: 'The kind of the latest failure, such as `timeout`.' }),
  created_at: timestamp,
};
const signingSecret = z.string().openapi({
  pattern: SECRET_PATTERN,
  description: 'Only this response shows the secret. Its 64 characters are the key.',
});

export const integrationSchema = component('Integration', z.object(integrationFields));

export const integrationListSchema = component('IntegrationList', z.object({ data: z.array(integrationSchema) }));

export const createdIntegrationSchema = component(
  'CreatedIntegration',
  z.object({
    ...integrationFields,
    signing_secret: signingSecret.optional(),
    webhook_url: z.string().optional().openapi({ description: 'A path on this host.' }),
    signing_instructions: z.string().optional(),
  }),
  { description: 'The last three members are present only for `push_webhook`.' },
);

export const rotatedIntegrationSchema = component(
  'RotatedIntegration',
  z.object({ ...integrationFields, signing_secret: signingSecret, note: z.string() }),
);

// Pushed outcomes.

/** A record under the descriptor `{}`; any other descriptor decides the shape itself. */
const pushedRecord = component('PushedRecord', z.record(z.string(), z.unknown()), {
  description: 'Under the descriptor `{}` a record is `{attempt_id, score, tiebreak?, evidence?}`.',
});

export const pushedBody = component('PushedBody', z.union([pushedRecord, z.array(pushedRecord).max(MAX_RECORDS)]), {
  description: `One record, or an array of up to ${MAX_RECORDS}.`,
});

export const recordStatus = component(
  'RecordStatus',
  z.enum(['settled', 'duplicate', 'ignored', 'rejected', 'listened']),
  {
    description:
      '`duplicate`: the same report settled the attempt before. `ignored`: the descriptor leaves the record out. `listened`: the score has no attempt and is kept for the calibration of its challenge.',
  },
);

const pushResult = component(
  'PushResult',
  z.object({
    index: z.int().openapi({ description: 'The place of the record in the body, from 0.' }),
    attempt_id: uuid.nullable().openapi({ description: 'Null if no attempt was found.' }),
    status: recordStatus,
    code: z.string().optional().openapi({ description: 'Why the record was rejected.' }),
  }),
);

const pushResultsSchema = component('PushResults', z.object({ results: z.array(pushResult) }));

export const pushAnswerSchema = component('PushAnswer', z.union([outcomeSchema, pushResultsSchema]), {
  description: 'An outcome has no member `results`.',
});
