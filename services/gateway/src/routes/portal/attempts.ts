/** A program's attempts, in both contest services, for its developer. */
import { type OwningServices, serviceOf } from '@laurel/attempts/client';
import { isRefused, refused } from '@laurel/errors';
import { type AttemptPosition, AttemptStatus, type ListAttemptsRequest } from '@laurel/proto/attempts';
import { ATTEMPT_STATUSES } from '@laurel/proto/enum-names';
import { decodePosition, encodePosition, type Position } from '@laurel/values/cursor';
import { contestServiceOf } from '@laurel/values/ids';
import type { WebhookClient } from '../../clients/webhook.ts';
import { mergePages } from '../../domain/attempt-pages.ts';
import { presentAttemptLine, presentDescribedAttempt } from '../../presenters/attempt.ts';
import { presentReceipt } from '../../presenters/receipt.ts';
import { PAGE_LIMIT, pathId } from '../fields.ts';
import { receiptSchema } from '../receipts.ts';
import { present } from '../run-route.ts';
import { attemptListSchema, attemptQuery, describedAttemptSchema } from './attempt-schemas.ts';
import { defineProgramRoute } from './program-route.ts';

export const listOwnAttempts = defineProgramRoute({
  method: 'get',
  path: '/attempts',
  name: 'listOwnAttempts',
  summary: "List a program's attempts",
  description:
    'An attempt is listed 2 seconds after its creation. A page ends early where few of the attempts of that time match: an empty page with a `next_cursor` is not the last. With `after`, a filter by `status` leaves out an attempt that gets the status later.',
  query: attemptQuery,
  success: { status: 200, description: 'Newest first; with `after` oldest first.', schema: attemptListSchema },
  run: async ({ caller: { program }, query, options }, services: OwningServices) => {
    const { environment, cursor, after, challenge_id, tournament_round_id, limit = PAGE_LIMIT } = query;
    const from = fromOf({ cursor, after });
    if (from === null) return refused('invalid_request', 'The cursor is not valid.');
    const request = {
      tenant: { programId: program.id, environment },
      contestId: challenge_id ?? tournament_round_id ?? '',
      playerRef: query.player_ref ?? '',
      status: query.status === undefined ? AttemptStatus.UNSPECIFIED : ATTEMPT_STATUSES[query.status],
      from,
      limit,
    };
    const asked = [
      ...(tournament_round_id === undefined ? [services.challenge] : []),
      ...(challenge_id === undefined ? [services.tournament] : []),
    ];
    const pages = await Promise.all(asked.map((service) => readPage(service, request, options)));
    const isFollowing = from?.$case === 'after';
    const { rows, next, head } = mergePages(isFollowing ? 'oldest_first' : 'newest_first', pages, limit);
    const headCursor = isFollowing ? next : head;
    return {
      body: {
        data: rows.map(({ listed }) => presentAttemptLine(listed)),
        next_cursor: next === null || isFollowing ? null : encodePosition(next),
        head_cursor: headCursor === null ? null : encodePosition(headCursor),
      },
    };
  },
});

type From = ListAttemptsRequest['from'];

/** Null if the cursor is not valid. */
function fromOf({
  cursor,
  after,
}: {
  readonly cursor?: string | undefined;
  readonly after?: string | undefined;
}): From | null {
  const text = cursor ?? after;
  if (text === undefined) return undefined;
  const position = decodePosition(text);
  if (position === null) return null;
  const value = { createdAt: position.at, id: position.id };
  return after === undefined ? { $case: 'before', value } : { $case: 'after', value };
}

type AttemptService = NonNullable<ReturnType<typeof serviceOf>>;

async function readPage(
  service: Pick<AttemptService, 'listAttempts'>,
  request: ListAttemptsRequest,
  options: { readonly requestId: string },
) {
  const read = await service.listAttempts(request, { ...options, retryLostReply: true });
  if (isRefused(read)) throw new Error(`a service refused a list of attempts: ${read.code}`);
  return {
    rows: read.attempts.map((listed) => {
      const { id, createdAt } = present(listed.attempt);
      return { listed, ...positionOf({ id, createdAt }) };
    }),
    readTo: read.readTo === undefined ? null : positionOf(read.readTo),
    head: read.head === undefined ? null : positionOf(read.head),
  };
}

function positionOf({ createdAt, id }: AttemptPosition): Position {
  return { at: present(createdAt), id };
}

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
  success: { status: 200, description: 'The attempt.', schema: describedAttemptSchema },
  refusals: { not_found: NOT_FOUND },
  run: async (
    { caller: { developerId, program }, params: { attemptId }, options },
    { webhook, ...services }: OwningServices & { readonly webhook: WebhookClient },
  ) => {
    const read = { ...options, retryLostReply: true };
    const described = await serviceOf(services, attemptId)?.describeAttempt({ programId: program.id, attemptId }, read);
    if (described === undefined) return refused('not_found');
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
  refusals: { not_found: `${NOT_FOUND} Or it has no outcome.` },
  run: async ({ caller: { program }, params: { attemptId }, options }, services: OwningServices) => {
    const read = { ...options, retryLostReply: true };
    const described = await serviceOf(services, attemptId)?.describeAttempt({ programId: program.id, attemptId }, read);
    if (described === undefined) return refused('not_found');
    if (isRefused(described)) return described;
    const receiptId = described.attempt?.outcome?.receiptId;
    if (receiptId === undefined) return refused('not_found');
    const isOfChallenge = contestServiceOf(attemptId) === 'challenge';
    const found = isOfChallenge
      ? await services.challenge.getReceipt({ receiptId }, read)
      : await services.tournament.getReceipt({ receiptId }, read);
    return isRefused(found) ? found : presentReceipt(found);
  },
});
