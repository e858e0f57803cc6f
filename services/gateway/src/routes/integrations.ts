/** What the portal shows of integrations: dry runs of descriptors, and the log. */
import { z } from '../http/zod.ts';
import { timestamp, uuid } from './v1/schemas.ts';

const pointerFailure = z
  .object({
    pointer: z.string().openapi({ description: 'The JSON Pointer, for example `/run/points`.' }),
    field: z.string().openapi({ description: 'Where it stands in the descriptor, for example `map.score`.' }),
    message: z.string(),
  })
  .openapi('PointerFailure');

/** A union, because the documents would write a named schema that is nullable as null wherever it is referenced. */
const failureOrNull = z.union([pointerFailure, z.null()]);

export const dryRunSchema = z
  .object({
    records: z.array(
      z
        .object({
          index: z.int(),
          status: z.enum(['read', 'ignored', 'failed']),
          read: z
            .record(z.string(), z.unknown())
            .nullable()
            .openapi({ description: 'What would be reported: attempt, score, tiebreak, evidence, dedupe.' }),
          failure: failureOrNull,
        })
        .openapi('DryRunRecord'),
    ),
    records_failure: failureOrNull.openapi({ description: 'Why no records could be read.' }),
    next_page: z
      .record(z.string(), z.unknown())
      .nullable()
      .openapi({ description: 'For `pull_poll`: how the next page would be requested.' }),
  })
  .openapi('DryRun');

export const logSchema = z
  .object({
    data: z.array(
      z
        .object({
          id: uuid,
          kind: z.enum(['push', 'poll']),
          at: timestamp,
          body_excerpt: z.string().openapi({ description: 'The first 1,000 characters.' }),
          error: z.string().nullable().openapi({ description: 'Why the whole failed.' }),
          records: z.array(
            z.object({
              index: z.int(),
              attempt_id: uuid.nullable(),
              status: z.enum(['settled', 'duplicate', 'ignored', 'rejected', 'listened']),
              code: z.string().nullable(),
              message: z.string().nullable(),
            }),
          ),
        })
        .openapi('LogEntry'),
    ),
    next_cursor: z.string().nullable(),
  })
  .openapi('Log');
