/** A program's attempts, in both contest services, for its developer. */
import type { OwningServices } from '@laurel/attempts/client';
import { isRefused, refused } from '@laurel/errors';
import { encodePosition } from '@laurel/values/cursor';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { WebhookClient } from '../../clients/webhook.ts';
import { mergePages } from '../../domain/attempt-pages.ts';
import { z } from '../../http/zod.ts';
import { presentDescribedAttempt, presentListedAttempt } from '../../presenters/attempt.ts';
import { presentReceipt } from '../../presenters/receipt.ts';
import {
  attemptFilters,
  attemptLine,
  describeAttempt,
  describedAttempt,
  hasOneContest,
  listStartOf,
  ONE_CONTEST_ISSUE,
  readPages,
  readReceiptOf,
} from '../attempts.ts';
import { component } from '../component.ts';
import { cursorParameter, inEnvironment, nextCursor, page, pathId } from '../fields.ts';
import { receiptSchema } from '../receipts.ts';
import { defineProgramRoute } from './program-route.ts';

const attemptQuery = z
  .object({
    ...inEnvironment,
    ...attemptFilters,
    ...page,
    after: cursorParameter.openapi({
      description: 'A `head_cursor`: only attempts that are newer, oldest first. Not together with `cursor`.',
    }),
  })
  .refine(({ cursor, after }) => cursor === undefined || after === undefined, {
    message: 'must not have both `cursor` and `after`',
  })
  .refine(hasOneContest, ONE_CONTEST_ISSUE);

const attemptListSchema = component(
  'AttemptList',
  z.object({
    data: z.array(attemptLine),
    next_cursor: nextCursor,
    head_cursor: z.string().nullable().openapi({
      description: 'The `after` that continues with newer attempts; null on a page with `cursor`.',
    }),
  }),
);

export const listOwnAttempts = defineProgramRoute({
  method: 'get',
  path: '/attempts',
  name: 'listOwnAttempts',
  summary: "List a program's attempts",
  description:
    'An attempt is listed 2 seconds after its creation. A page ends early where few of the attempts of that time match: an empty page with a `next_cursor` is not the last. With `after`, a filter by `status` leaves out an attempt that gets the status later. Archived attempts are not listed.',
  query: attemptQuery,
  success: { status: 200, description: 'Newest first; with `after` oldest first.', schema: attemptListSchema },
  run: async ({ caller: { program }, query, options }, services: OwningServices) => {
    const { environment, cursor, after, limit = MAX_PAGE_ROWS } = query;
    const from = listStartOf({ cursor, after });
    if (from === null) return refused('invalid_request', 'The cursor is not valid.');
    const listed = { tenant: { programId: program.id, environment }, accountId: '', programIds: [], from, limit };
    const pages = await readPages(services, query, listed, options);
    const isFollowing = from?.$case === 'after';
    const { rows, next, head } = mergePages(isFollowing ? 'oldest_first' : 'newest_first', pages, limit);
    const headCursor = isFollowing ? next : head;
    return {
      body: {
        data: rows.map(({ listed }) => presentListedAttempt(listed)),
        next_cursor: next === null || isFollowing ? null : encodePosition(next),
        head_cursor: headCursor === null ? null : encodePosition(headCursor),
      },
    };
  },
});

const params = { attemptId: pathId };
const NOT_FOUND = 'There is no such attempt, or it belongs to another program.';

export const getOwnAttempt = defineProgramRoute({
  method: 'get',
  path: '/attempts/{attemptId}',
  name: 'getOwnAttempt',
  summary: 'Get an attempt with its history',
  description:
    'The history has what is stored, with the sends of its events. This read changes nothing: an attempt whose time has run out is still `open` until it is expired.',
  params,
  success: { status: 200, description: 'The attempt.', schema: describedAttempt },
  refusals: { not_found: NOT_FOUND },
  run: async (
    { caller: { developerId, program }, params: { attemptId }, options },
    { webhook, ...services }: OwningServices & { readonly webhook: WebhookClient },
  ) => {
    const read = { ...options, retryLostReply: true };
    const described = await describeAttempt(services, { programId: program.id, attemptId, anyProgram: false }, read);
    if (isRefused(described)) return described;
    const sent = await webhook.listDeliveriesOfEvents({ developerId, eventIds: described.eventIds }, read);
    return isRefused(sent) ? sent : presentDescribedAttempt(described, sent.deliveries);
  },
});

export const getOwnReceipt = defineProgramRoute({
  method: 'get',
  path: '/attempts/{attemptId}/receipt',
  name: 'getOwnReceipt',
  summary: "Get the signed record of an attempt's outcome",
  description:
    '`npm run verify-receipt` verifies it. The response has the public key, and for a round the `seal` once it is settled.',
  params,
  success: { status: 200, description: 'The receipt.', schema: receiptSchema },
  refusals: { not_found: `${NOT_FOUND} Or it has no outcome, or its receipt is kept only in the archive.` },
  run: async ({ caller: { program }, params: { attemptId }, options }, services: OwningServices) => {
    const read = { ...options, retryLostReply: true };
    const described = await describeAttempt(services, { programId: program.id, attemptId, anyProgram: false }, read);
    if (isRefused(described)) return described;
    const receiptId = described.attempt?.outcome?.receiptId;
    if (receiptId === undefined) return refused('not_found');
    const found = await readReceiptOf(services, { attemptId, receiptId }, read);
    return isRefused(found) ? found : presentReceipt(found);
  },
});
