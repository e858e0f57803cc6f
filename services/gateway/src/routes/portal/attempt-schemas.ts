/** The shapes of attempts as developers read them. */
import { ATTEMPT_FACTS } from '@laurel/proto/enum-names';
import { z } from '../../http/zod.ts';
import { component, orNull } from '../component.ts';
import { id, inEnvironment, nextCursor, page, text } from '../fields.ts';
import { attemptOutcome, attemptStatus } from '../v1/attempt-schemas.ts';
import { amount, playerRef, timestamp, uuid } from '../v1/fields.ts';
import { deliverySchema } from '../webhooks.ts';

export const attemptQuery = z
  .object({
    ...inEnvironment,
    status: attemptStatus.optional().openapi({ description: 'Only attempts with this status.' }),
    challenge_id: id.optional().openapi({ description: 'Only attempts at this challenge.' }),
    tournament_round_id: id.optional().openapi({ description: 'Only attempts in this round.' }),
    player_ref: playerRef.optional().openapi({ description: 'Only attempts of this player.' }),
    ...page,
    after: text(200).optional().openapi({
      description: 'A `head_cursor`: only attempts that are newer, oldest first. Not together with `cursor`.',
    }),
  })
  .refine(({ cursor, after }) => cursor === undefined || after === undefined, {
    message: 'must not have both `cursor` and `after`',
  })
  .refine((query) => query.challenge_id === undefined || query.tournament_round_id === undefined, {
    message: 'must not have both `challenge_id` and `tournament_round_id`',
  });

const listedAward = component(
  'ListedAward',
  z.object({
    id: uuid,
    amount,
    payout_status: component('ListedAwardStatus', z.enum(['paid', 'held', 'denied'])),
  }),
  { description: 'An award as a developer reads it.' },
);

const lineFields = {
  id: uuid,
  challenge_id: uuid.nullable().openapi({ description: 'Null for an attempt in a round.' }),
  tournament_round_id: uuid.nullable().openapi({ description: 'Null for an attempt against a challenge.' }),
  player_ref: z.string(),
  status: attemptStatus,
  fee: amount,
  created_at: timestamp,
  score: z.number().nullable().openapi({ description: 'Null without an outcome, as `met_threshold`.' }),
  met_threshold: z.boolean().nullable(),
  award: orNull(listedAward),
};

export const attemptListSchema = component(
  'AttemptList',
  z.object({
    data: z.array(component('AttemptLine', z.object(lineFields))),
    next_cursor: nextCursor,
    head_cursor: z.string().nullable().openapi({
      description: 'The `after` that continues with newer attempts; null on a page with `cursor`.',
    }),
  }),
);

const kinds = Object.keys(ATTEMPT_FACTS) as (keyof typeof ATTEMPT_FACTS)[];

const timelineEntry = component(
  'AttemptTimelineEntry',
  z.object({
    at: timestamp.nullable().openapi({ description: 'Null for `expired` and `voided`, whose time is not stored.' }),
    kind: component('AttemptTimelineKind', z.enum([...kinds, 'webhook_sent'])),
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
  }),
);

export const describedAttemptSchema = component(
  'DescribedAttempt',
  z.object({
    ...lineFields,
    metadata: z.record(z.string(), z.unknown()),
    outcome: orNull(attemptOutcome),
    timeline: z.array(timelineEntry).openapi({ description: 'What is stored, oldest first.' }),
    deliveries: z
      .array(component('AttemptDelivery', deliverySchema.extend({ endpoint_id: uuid })))
      .openapi({ description: 'The first delivery of each event of the attempt to each endpoint.' }),
  }),
);
