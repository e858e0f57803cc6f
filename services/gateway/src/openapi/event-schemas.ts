/**
 * The shapes of the events that partners receive: the envelope, and the data of each event. Unlike
 * in `/v1`, amounts of money are JSON numbers.
 */
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '@laurel/events/event-type';
import { z } from '../http/zod.ts';
import { component, orNull } from '../routes/component.ts';
import { awardPayoutStatus } from '../routes/v1/attempt-schemas.ts';

const uuid = z.string().openapi({ format: 'uuid' });
const timestamp = z.string().openapi({ format: 'date-time' });
const amount = z.number().openapi({ description: 'USD, a JSON number with two decimals.' });
const playerRef = z.string().openapi({ description: 'The `player_ref` that played.' });
const test = z.literal(true).optional().openapi({ description: 'Present in the sandbox.' });

const parents = {
  challenge_id: uuid.nullable().openapi({ description: 'Null for an attempt in a round.' }),
  tournament_round_id: uuid.nullable().openapi({ description: 'Null for an attempt against a challenge.' }),
};

const webhookAward = component('WebhookAward', z.object({ id: uuid, amount, payout_status: awardPayoutStatus }), {
  description: 'An award in an event: its amount is a JSON number.',
});

const EVENTS: Readonly<Record<WebhookEventType, { readonly summary: string; readonly data: z.ZodObject }>> = {
  'webhook.test': {
    summary: 'A developer sent a test event from the portal',
    data: z.object({ message: z.string() }),
  },
  'attempt.settled': {
    summary: 'An outcome was recorded. Re-read the attempt rather than rebuilding it from here',
    data: z.object({
      attempt_id: uuid,
      ...parents,
      player_ref: playerRef,
      score: z.number(),
      met_threshold: z.boolean(),
      award: orNull(webhookAward).openapi({ description: 'Present only when the bar was cleared.' }),
      recorded_at: timestamp,
      test,
    }),
  },
  'attempt.refunded': {
    summary: 'A charged fee was returned. A free attempt sends no such event',
    data: z.object({
      attempt_id: uuid,
      ...parents,
      player_ref: playerRef,
      amount,
      reason: component('RefundReason', z.enum(['expired', 'round_closed', 'round_cancelled', 'voided'])),
      test,
    }),
  },
  'challenge.suspended': {
    summary: 'A challenge was suspended: it accepts no attempts until it is reinstated',
    data: z.object({ challenge_id: uuid, name: z.string(), test }),
  },
  'round.settled': {
    summary: 'Standings are final, and every payout is decided',
    data: z.object({
      tournament_round_id: uuid,
      tournament_id: uuid,
      ranked_players: z.int().openapi({ description: 'Players with a final rank.' }),
      purse: z.number().openapi({ description: 'The sum of all payouts to ranks, paid or held: USD, a JSON number.' }),
      test,
    }),
  },
  'round.cancelled': {
    summary: 'A round had too few entrants or scores, and every fee was returned',
    data: z.object({ tournament_round_id: uuid, tournament_id: uuid, test }),
  },
  'award.released': {
    summary: 'A win that was held for review is paid',
    data: z.object({
      award: webhookAward,
      attempt_id: uuid.nullable().openapi({ description: 'Null for a rank of a round.' }),
      ...parents,
      player_ref: playerRef,
      test,
    }),
  },
};

export interface DocumentedEvent {
  readonly type: WebhookEventType;
  /** For example, `AttemptSettled` for `attempt.settled`. */
  readonly name: string;
  readonly summary: string;
  readonly schema: z.ZodObject<{ event: z.ZodLiteral<WebhookEventType>; timestamp: z.ZodString; data: z.ZodObject }>;
}

export const DOCUMENTED_EVENTS: readonly DocumentedEvent[] = WEBHOOK_EVENT_TYPES.map((type) => {
  const { summary, data } = EVENTS[type];
  const name = nameOf(type);
  const schema = component(
    `${name}Event`,
    z.object({
      event: z.literal(type),
      timestamp: timestamp.openapi({
        description: 'When the event happened: the same at every attempt of the delivery.',
      }),
      data: component(`${name}EventData`, data),
    }),
    { description: `${summary}.` },
  );
  return { type, name, summary, schema };
});

const [first, ...others] = DOCUMENTED_EVENTS.map(({ schema }) => schema);
if (first === undefined) throw new Error('there are no events');

/** The union of all events, for a receiver of every event. */
component('WebhookEvent', z.discriminatedUnion('event', [first, ...others]), {
  description:
    'The body of any webhook; `event` says which event it is. More events may come: acknowledge those that you do not know.',
});

/** For example, `AttemptSettled` for `attempt.settled`. */
function nameOf(type: WebhookEventType): string {
  return type
    .split('.')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
}
