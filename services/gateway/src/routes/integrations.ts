/** What the portal shows of integrations: dry runs of descriptors, and the log. */
import { z } from '../http/zod.ts';
import { component, orNull } from './component.ts';
import { nextCursor } from './fields.ts';
import { timestamp, uuid } from './v1/fields.ts';
import { recordStatus } from './v1/integration-schemas.ts';

const pointerFailure = component(
  'PointerFailure',
  z.object({
    pointer: z.string().openapi({ description: 'The JSON Pointer, for example `/run/points`.' }),
    field: z.string().openapi({ description: 'Where it stands in the descriptor, for example `map.score`.' }),
    message: z.string(),
  }),
);

const dryRunRecord = component(
  'DryRunRecord',
  z.object({
    index: z.int(),
    status: z.enum(['read', 'ignored', 'failed']),
    read: z
      .record(z.string(), z.unknown())
      .nullable()
      .openapi({ description: 'What would be reported: attempt, score, tiebreak, evidence, dedupe.' }),
    failure: orNull(pointerFailure),
  }),
);

export const dryRunSchema = component(
  'DryRun',
  z.object({
    records: z.array(dryRunRecord),
    records_failure: orNull(pointerFailure).openapi({ description: 'Why no records could be read.' }),
    next_page: z
      .record(z.string(), z.unknown())
      .nullable()
      .openapi({ description: 'For `pull_poll`: how the next page would be requested.' }),
  }),
);

const logRecord = component(
  'IntegrationLogRecord',
  z.object({
    index: z.int(),
    attempt_id: uuid.nullable(),
    status: recordStatus,
    code: z.string().nullable(),
    message: z.string().nullable(),
  }),
);

const logEntry = component(
  'IntegrationLogEntry',
  z.object({
    id: uuid,
    kind: z.enum(['push', 'poll']),
    at: timestamp,
    body_excerpt: z.string().openapi({ description: 'The first 1,000 characters.' }),
    error: z.string().nullable().openapi({ description: 'Why the whole failed.' }),
    records: z.array(logRecord),
  }),
);

export const logSchema = component('IntegrationLog', z.object({ data: z.array(logEntry), next_cursor: nextCursor }));
