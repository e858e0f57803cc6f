/**
 * The shapes of integrations and of pushed outcomes. Routes check with them; the documents are
 * generated from them.
 */
import {
  MAX_DESCRIPTOR_BYTES,
  MAX_POLL_INTERVAL_SECONDS,
  MAX_RECORDS,
  MIN_POLL_INTERVAL_SECONDS,
} from '@laurel/limits';
import { z } from '../../http/zod.ts';
import { component } from '../component.ts';
import { outcomeSchema } from './attempt-schemas.ts';
import { timestamp, uuid } from './fields.ts';

const SECRET_PATTERN = '^[0-9a-f]{64}$';

export const transport = component('Transport', z.enum(['push_webhook', 'pull_poll', 'sdk_direct']), {
  description:
    '`push_webhook`: the partner posts outcomes and gets a signing secret. `pull_poll`: Laurel polls a URL of the partner. `sdk_direct`: the partner calls `/v1`; nothing to configure.',
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
    description: `How the payloads of the partner are read; at most ${MAX_DESCRIPTOR_BYTES / 1024} KiB. \`{}\` reads the canonical body.`,
  },
);

const pullIntervalSeconds = z.int().min(MIN_POLL_INTERVAL_SECONDS).max(MAX_POLL_INTERVAL_SECONDS);

export const createIntegrationBody = component(
  'IntegrationRequest',
  z.object({
    transport,
    descriptor: descriptor.optional(),
    pull_interval_seconds: pullIntervalSeconds.optional().openapi({ description: 'For `pull_poll` alone.' }),
  }),
);

export const updateIntegrationBody = component(
  'IntegrationChange',
  z.object({
    descriptor: descriptor.optional(),
    status: status.optional(),
    pull_interval_seconds: pullIntervalSeconds.optional(),
  }),
  { description: 'What is absent stays as it is.' },
);

const integrationFields = {
  id: uuid,
  transport,
  status,
  descriptor: descriptor.openapi({ description: 'As it was sent, without the secret values of `pull.auth`.' }),
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

export const integrationSchema = component('Integration', z.object(integrationFields));

export const integrationListSchema = component('IntegrationList', z.object({ data: z.array(integrationSchema) }));

export const createdIntegrationSchema = component(
  'CreatedIntegration',
  z.object({
    ...integrationFields,
    signing_secret: signingSecret.optional(),
    webhook_url: z.string().optional().openapi({ description: 'A path of this host.' }),
    signing_instructions: z.string().optional(),
  }),
  { description: 'The last three members: for `push_webhook` alone.' },
);

export const rotatedIntegrationSchema = component(
  'RotatedIntegration',
  z.object({ ...integrationFields, signing_secret: signingSecret, note: z.string() }),
);

// Pushed outcomes.

/** A record under the descriptor `{}`; any other descriptor decides the shape itself. */
const pushedRecord = component('PushedRecord', z.record(z.string(), z.unknown()), {
  description: 'With the descriptor `{}` it is `{attempt_id, score, tiebreak?, evidence?}`.',
});

export const pushedBody = component('PushedBody', z.union([pushedRecord, z.array(pushedRecord).max(MAX_RECORDS)]), {
  description: `One record, or an array of up to ${MAX_RECORDS}.`,
});

export const recordStatus = component(
  'RecordStatus',
  z.enum(['settled', 'duplicate', 'ignored', 'rejected', 'listened']),
  {
    description:
      '`duplicate`: settled before by the same report. `ignored`: the descriptor leaves it out. `listened`: a score without an attempt, kept for the calibration of its challenge.',
  },
);

const pushResult = component(
  'PushResult',
  z.object({
    index: z.int().openapi({ description: 'The place of the record in the body, from 0.' }),
    attempt_id: uuid.nullable().openapi({ description: 'Null when no attempt was found.' }),
    status: recordStatus,
    code: z.string().optional().openapi({ description: 'Why it was rejected.' }),
  }),
);

const pushResultsSchema = component('PushResults', z.object({ results: z.array(pushResult) }));

export const pushAnswerSchema = component('PushAnswer', z.union([outcomeSchema, pushResultsSchema]), {
  description: 'An outcome has no member `results`.',
});
