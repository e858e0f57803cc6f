/** The overview of a program, in one environment. */
import { z } from '../http/zod.ts';
import { component } from './component.ts';
import { environmentName } from './fields.ts';
import { amount, timestamp } from './v1/fields.ts';

const firstSteps = component(
  'OverviewFirstSteps',
  z.object({
    key_used_at: timestamp
      .nullable()
      .openapi({ description: 'The first request with a key, as far as requests are logged.' }),
    player_linked_at: timestamp.nullable(),
    attempt_created_at: timestamp.nullable(),
    outcome_reported_at: timestamp.nullable(),
    endpoint_created_at: timestamp
      .nullable()
      .openapi({ description: 'When the oldest endpoint was registered that gets events of the program.' }),
    webhook_delivered_at: timestamp.nullable().openapi({
      description: 'When the first delivery was created that was delivered, as far as the delivery log goes.',
    }),
  }),
  { description: 'When each step was first done; null if it is not known to be.' },
);

const errors = { errors_4xx: z.int(), errors_5xx: z.int() };

const requests = component(
  'OverviewRequests',
  z.object({
    total: z.int(),
    ...errors,
    top_errors: z
      .array(component('OverviewError', z.object({ code: z.string(), count: z.int() })))
      .openapi({ description: 'The five most frequent codes.' }),
    buckets: z
      .array(component('OverviewRequestBucket', z.object({ from: timestamp, ok: z.int(), ...errors })))
      .openapi({ description: 'The period in equal parts, oldest first.' }),
  }),
  { description: 'The requests to `/v1` with a key of the program, as far as they are logged.' },
);

const money = component(
  'OverviewMoney',
  z.object({
    fees: amount.nullable().openapi({
      description:
        'Fees charged, refunded ones included. Null if the program has more than 2,000 accounts, or 10,000 fees in the period.',
    }),
    refunds: amount.nullable().openapi({ description: 'What of these fees was returned. Null where `fees` is.' }),
    paid: amount.openapi({ description: 'Payouts that were paid in the period.' }),
    held: amount.openapi({
      description: 'Payouts of the period that are held, among the newest 10,000 held ones of all programs.',
    }),
  }),
);

const deliveries = component(
  'OverviewDeliveries',
  z.object({
    delivered: z.int(),
    failed: z.int(),
    pending: z.int(),
    counted_from: timestamp.nullable().openapi({
      description:
        'Set if an endpoint has 10,000 deliveries or more in the period: of that endpoint only those from then on are counted.',
    }),
  }),
  { description: "Deliveries of the program's events that were created in the period, by their status now." },
);

export const overviewSchema = component(
  'ProgramOverview',
  z.object({
    environment: environmentName,
    hours: z.int(),
    from: timestamp,
    to: timestamp,
    quick_start: firstSteps,
    requests,
    money,
    deliveries,
  }),
);
