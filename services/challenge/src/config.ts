/** What the environment tells the challenge service. */
import { EVENTS_PREFIX, EVENTS_PREFIX_RULE } from '@laurel/events';
import { parseAmount } from '@laurel/money';
import {
  address,
  databaseUrl,
  durationMs,
  logLevel,
  natsUrl,
  port,
  positiveInt,
  signingSeed,
  tracingSettings,
} from '@laurel/service';
import { z } from 'zod';
import type { TierCeilings } from './domain/prize-offer.ts';

const tierCeilings = z.string().transform((text, context): TierCeilings => {
  const [one, two, three, ...rest] = text.split(',').map((amount) => parseAmount(amount.trim()));
  if (one != null && two != null && three != null && rest.length === 0) return [one, two, three];
  context.addIssue('must be the three amounts of tiers 1, 2 and 3, like 25.00,250.00,2500.00');
  return z.NEVER;
});

export const challengeConfigSchema = z.object({
  LOG_LEVEL: logLevel.default('info'),
  ...tracingSettings,
  GRPC_HOST: z.string().default('127.0.0.1'),
  GRPC_PORT: port,
  ADMIN_HOST: z.string().default('127.0.0.1'),
  /** 0 takes any free port. */
  ADMIN_PORT: port.default(0),
  CHALLENGE_DATABASE_URL: databaseUrl,
  CHALLENGE_DATABASE_POOL: positiveInt.default(8),
  WALLET_ADDRESS: address,
  /** The secret half of the key that receipts are signed with. */
  RECEIPT_SIGNING_SEED: signingSeed,
  /** How long an attempt waits for its outcome. */
  ATTEMPT_TTL_SECONDS: positiveInt.default(3600),
  /** How long a create may be in flight before the sweeper asks the wallet and fences what never arrived. */
  PENDING_GRACE_SECONDS: positiveInt.default(60),
  SWEEP_INTERVAL_MS: durationMs.default(1_000),
  /** Where events are published; nothing here waits for it. Several are separated by commas. */
  NATS_URL: natsUrl,
  /** The name of the stream of events and of its subjects; one broker can carry several stacks. */
  EVENTS_PREFIX: z.string().regex(EVENTS_PREFIX, EVENTS_PREFIX_RULE).default('laurel'),
  /** For how long an event that nobody took stays in the outbox before it is looked for in the stream. */
  OUTBOX_REPUBLISH_AFTER_MS: durationMs.default(5_000),
  /** The highest prize of integrity tiers 1, 2 and 3. */
  TIER_CEILINGS: tierCeilings.prefault('25.00,250.00,2500.00'),
});

export type ChallengeConfig = z.output<typeof challengeConfigSchema>;
