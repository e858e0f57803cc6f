/** Programs and pages of them, as the portal and operators see them. */

import { type Refused, refused } from '@laurel/errors';
import { cutPage } from '@laurel/values/cursor';
import { isUuid } from '@laurel/values/ids';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import { PROGRAM_STATUSES } from '../domain/program.ts';
import type { Result } from '../http/route.ts';
import { z } from '../http/zod.ts';
import { component } from './component.ts';
import { environmentName, nextCursor, page } from './fields.ts';
import { timestamp, uuid } from './v1/fields.ts';

export const programListQuery = z.object(page);

const programKey = component(
  'ProgramKey',
  z.object({
    environment: environmentName,
    prefix: z.string(),
    last4: z.string(),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
  }),
);

export const programStatus = component('ProgramStatus', z.enum(PROGRAM_STATUSES));

export const programSchema = component(
  'Program',
  z.object({
    id: uuid,
    name: z.string(),
    status: programStatus,
    deletion_scheduled: z.boolean(),
    created_at: timestamp,
    keys: z.array(programKey),
  }),
);

export const programListSchema = component(
  'ProgramList',
  z.object({ data: z.array(programSchema), next_cursor: nextCursor }),
);

/** A page of rows whose ids sort by time, newest first; its cursor is the last row's id. */
export async function answerPageOfIds<Row extends { readonly id: string }>(
  query: { readonly cursor?: string | undefined; readonly limit?: number | undefined },
  list: (page: { beforeId: string | null; limit: number }) => Promise<readonly Row[]>,
  presentRow: (row: Row) => object,
): Promise<Result | Refused> {
  const { cursor, limit = MAX_PAGE_ROWS } = query;
  if (cursor !== undefined && !isUuid(cursor))
    return refused('invalid_request', 'cursor: must be a next_cursor of this list');
  // One row more than requested shows whether another page follows.
  const found = await list({ beforeId: cursor ?? null, limit: limit + 1 });
  const { page: rows, last } = cutPage(found, limit);
  return { body: { data: rows.map(presentRow), next_cursor: last?.id ?? null } };
}
