/** Attempts as developers and operators read them: their shapes, and the pages of their list. */
import { type OwningServices, serviceOf } from '@laurel/attempts/client';
import { isRefused, refused } from '@laurel/errors';
import {
  AttemptStatus,
  type DescribeAttemptRequest,
  type ListAttemptsRequest,
  type ListAttemptsResponse,
} from '@laurel/proto/attempts';
import { ATTEMPT_FACTS, ATTEMPT_STATUSES } from '@laurel/proto/enum-names';
import { decodePosition, type Position } from '@laurel/values/cursor';
import { contestServiceOf } from '@laurel/values/ids';
import { z } from '../http/zod.ts';
import { component, orNull } from './component.ts';
import { id } from './fields.ts';
import { defined } from './run-route.ts';
import { attemptIdentityFields, attemptOutcome, attemptStatus } from './v1/attempt-schemas.ts';
import { amount, playerRef, timestamp, uuid } from './v1/fields.ts';
import { deliverySchema } from './webhooks.ts';

/** Query parameters that filter a list of attempts. */
export const attemptFilters = {
  status: attemptStatus.optional().openapi({ description: 'Only attempts with this status.' }),
  challenge_id: id.optional().openapi({ description: 'Only attempts at this challenge.' }),
  tournament_round_id: id.optional().openapi({ description: 'Only attempts in this round.' }),
  player_ref: playerRef.optional().openapi({ description: 'Only attempts of this player.' }),
};

type AttemptFilters = z.output<z.ZodObject<typeof attemptFilters>>;

export const hasOneContest = (query: Partial<AttemptFilters>) =>
  query.challenge_id === undefined || query.tournament_round_id === undefined;
export const ONE_CONTEST_ISSUE = { message: 'must not have both `challenge_id` and `tournament_round_id`' };

const listedAward = component(
  'ListedAward',
  z.object({
    id: uuid,
    amount,
    payout_status: component('ListedAwardStatus', z.enum(['paid', 'held', 'denied'])),
  }),
  { description: 'An award as a developer reads it.' },
);

export const attemptLine = component(
  'AttemptLine',
  z.object({
    ...attemptIdentityFields,
    fee: amount,
    created_at: timestamp,
    score: z.number().nullable().openapi({ description: 'Null without an outcome, as `met_threshold`.' }),
    met_threshold: z.boolean().nullable(),
    award: orNull(listedAward),
  }),
);

const kinds = Object.keys(ATTEMPT_FACTS) as (keyof typeof ATTEMPT_FACTS)[];

const timelineEntry = component(
  'AttemptTimelineEntry',
  z.object({
    at: timestamp.nullable().openapi({ description: 'Null for `expired` and `voided`, whose time is not stored.' }),
    kind: component('AttemptTimelineKind', z.enum([...kinds, 'webhook_sent', 'goodwill_deposited'])),
    amount: amount.optional(),
    reason: z.string().optional(),
    score: z.number().optional(),
    met_threshold: z.boolean().optional(),
    threshold_applied: z.number().nullable().optional(),
    delivery_id: uuid.optional(),
    endpoint_id: uuid.optional(),
    number: z.int().optional(),
    http_status: z.int().nullable().optional(),
    error_kind: z.string().nullable().optional(),
    reference: z.string().optional().openapi({
      description: 'The reference of a deposit that makes the attempt good, which only operators are shown.',
    }),
  }),
);

export const describedAttempt = component(
  'DescribedAttempt',
  attemptLine.extend({
    metadata: z.record(z.string(), z.unknown()),
    outcome: orNull(attemptOutcome),
    timeline: z.array(timelineEntry).openapi({ description: 'What is stored, oldest first.' }),
    deliveries: z
      .array(component('AttemptDelivery', deliverySchema.extend({ endpoint_id: uuid })))
      .openapi({ description: 'The first delivery of each event of the attempt to each endpoint.' }),
  }),
);

type From = ListAttemptsRequest['from'];

/**
 * The position at which a list begins, from `cursor` or `after`. Undefined if the query has
 * neither; null if Laurel did not issue the cursor.
 */
export function listStartOf({
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

/** Reads a page from each contest service that may have attempts matching the filters. */
export async function readPages(
  services: OwningServices,
  { status, challenge_id, tournament_round_id, player_ref }: Partial<AttemptFilters>,
  listed: Pick<ListAttemptsRequest, 'tenant' | 'accountId' | 'programIds' | 'from' | 'limit'>,
  options: { readonly requestId: string },
) {
  const request = {
    ...listed,
    contestId: challenge_id ?? tournament_round_id ?? '',
    playerRef: player_ref ?? '',
    status: status === undefined ? AttemptStatus.UNSPECIFIED : ATTEMPT_STATUSES[status],
  };
  const asked = [
    ...(tournament_round_id === undefined ? [services.challenge] : []),
    ...(challenge_id === undefined ? [services.tournament] : []),
  ];
  return Promise.all(asked.map((service) => readPage(service, request, options)));
}

async function readPage(
  service: Pick<NonNullable<ReturnType<typeof serviceOf>>, 'listAttempts'>,
  request: ListAttemptsRequest,
  options: { readonly requestId: string },
) {
  const read = await service.listAttempts(request, { ...options, retryLostReply: true });
  if (isRefused(read)) throw new Error(`a service refused a list of attempts: ${read.code}`);
  return {
    rows: read.attempts.map((listed) => {
      const { id, createdAt } = defined(listed.attempt);
      return { listed, ...positionOf({ id, createdAt }) };
    }),
    readTo: read.readTo === undefined ? null : positionOf(read.readTo),
    head: read.head === undefined ? null : positionOf(read.head),
  };
}

function positionOf({ createdAt, id }: NonNullable<ListAttemptsResponse['head']>): Position {
  return { at: defined(createdAt), id };
}

/** An attempt with its history, from the contest service whose attempt it is. */
export async function describeAttempt(
  services: OwningServices,
  request: DescribeAttemptRequest,
  options: { readonly requestId: string; readonly retryLostReply: boolean },
) {
  return (await serviceOf(services, request.attemptId)?.describeAttempt(request, options)) ?? refused('not_found');
}

/** The receipt of the outcome of an attempt, from the contest service that settled it. */
export async function readReceiptOf(
  { challenge, tournament }: OwningServices,
  { attemptId, receiptId }: { readonly attemptId: string; readonly receiptId: string },
  options: { readonly requestId: string; readonly retryLostReply: boolean },
) {
  return contestServiceOf(attemptId) === 'challenge'
    ? challenge.getReceipt({ receiptId }, options)
    : tournament.getReceipt({ receiptId }, options);
}
