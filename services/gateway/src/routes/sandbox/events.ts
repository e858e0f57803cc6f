import { isRefused } from '@laurel/errors';
import { SandboxEventsStart } from '@laurel/proto/webhook';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { WebhookClient } from '../../clients/webhook.ts';
import { z } from '../../http/zod.ts';
import { presentSandboxEvent } from '../../presenters/webhook.ts';
import { cursorParameter, page } from '../fields.ts';
import { sandboxEventListSchema } from '../webhooks.ts';
import { defineSandboxRoute } from './route.ts';

const STARTS = { now: SandboxEventsStart.NOW, oldest: SandboxEventsStart.OLDEST } as const;

const query = z
  .object({
    after: cursorParameter.openapi({ description: 'The `next_cursor` of the previous page.' }),
    from: z.enum(['now', 'oldest']).optional().openapi({
      description:
        'The start of the list if `after` is absent: after the newest event (the default), or with the oldest.',
    }),
    limit: page.limit,
  })
  .refine(({ after, from }) => after === undefined || from === undefined, {
    message: 'is for the first page, which has no after',
    path: ['from'],
  });

export const listSandboxEvents = defineSandboxRoute({
  method: 'get',
  path: '/events',
  name: 'listSandboxEvents',
  summary: 'List the events of the sandbox as webhooks carry them',
  description:
    'The list has every event of the program in test for 3 days, also events that no endpoint gets, each once for a reader who follows the cursor. `laurel listen` reads it.',
  query,
  success: {
    status: 200,
    description: 'Oldest first. An empty page is the end for now: ask again with its `next_cursor`.',
    schema: sandboxEventListSchema,
  },
  refusals: { invalid_request: 'The cursor does not belong to the program, or events after it were deleted.' },
  run: async ({ caller, query, options }, { webhook }: { webhook: WebhookClient }) => {
    const listed = await webhook.listSandboxEvents(
      {
        tenant: caller,
        cursor: query.after ?? '',
        start: STARTS[query.from ?? 'now'],
        limit: query.limit ?? MAX_PAGE_ROWS,
      },
      options,
    );
    if (isRefused(listed)) return listed;
    return { body: { data: listed.events.map(presentSandboxEvent), next_cursor: listed.nextCursor } };
  },
});
