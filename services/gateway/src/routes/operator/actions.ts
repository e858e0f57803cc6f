import { refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { cutPage, decodePosition, encodePosition, TOP } from '@laurel/values/cursor';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import { z } from '../../http/zod.ts';
import { presentAction } from '../../presenters/action.ts';
import { listActions as listStoredActions } from '../../repository/operator-actions.ts';
import { component } from '../component.ts';
import { nextCursor, page, text } from '../fields.ts';
import { timestamp, uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

/** Each filter is matched exactly against what an action shows. */
const actionQuery = z.object({
  action: text(64).optional().openapi({ description: 'The name of the action.', example: 'change_account' }),
  subject: text(255).optional().openapi({
    description: 'The kind and the id of the subject.',
    example: 'account:01a1a001-52c0-7f4d-a2b8-6e17c9d03f52',
  }),
  actor: text(64).optional().openapi({ description: 'The name of the operator who has the token.', example: 'ana' }),
  ...page,
});

const operatorAction = component(
  'OperatorAction',
  z.object({
    id: uuid,
    at: timestamp,
    actor: z.string(),
    action: z.string(),
    subject: z.string().nullable().openapi({ example: 'account:01a1fdfa-4680-7d10-9c2e-5f0a1b7c3d42' }),
    request: z.unknown(),
    before: z.unknown().openapi({ description: 'The subject before the action; null if it did not exist.' }),
    after: z.unknown().openapi({ description: 'The subject after the action.' }),
    outcome: component('ActionOutcome', z.enum(['done', 'refused', 'unknown'])),
    status: z.int().nullable(),
    request_id: uuid,
  }),
);

const actionListSchema = component(
  'OperatorActionList',
  z.object({ data: z.array(operatorAction), next_cursor: nextCursor }),
);

export const listActions = defineOperatorRoute({
  method: 'get',
  path: '/actions',
  name: 'listActions',
  summary: 'List the changes that operators made',
  description:
    'An action is recorded before it takes effect, and its record is never changed. `outcome` is `unknown` if the process died or failed during the action, which may have taken effect. No secret is recorded.',
  query: actionQuery,
  success: { status: 200, description: 'Newest first.', schema: actionListSchema },
  run: async ({ query }, { database }: { database: Database }) => {
    const { cursor, limit = MAX_PAGE_ROWS, action = null, subject = null, actor = null } = query;
    const below = cursor === undefined ? TOP : decodePosition(cursor);
    if (below === null) return refused('invalid_request', 'cursor: must be a next_cursor of this list');
    // One row more than requested shows whether another page follows.
    const found = await listStoredActions(database, { action, subject, actor }, { below, limit: limit + 1 });
    const { page: actions, last } = cutPage(found, limit);
    const next = last === null ? null : encodePosition(last);
    return { body: { data: actions.map(presentAction), next_cursor: next } };
  },
});
