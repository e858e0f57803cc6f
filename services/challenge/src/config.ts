/** The configuration that the challenge service reads from its environment. */
import { EVENTS_PREFIX, EVENTS_PREFIX_RULE } from '@laurel/events';
import { parseAmount } from '@laurel/money';
import {
  address,
  channelSettings,
  checkChannels,
  databaseRoleSettings,
  databaseUrl,
  durationMs,
  logLevel,
  natsUrl,
  port,
  positiveInt,
  secretKey,
  tracingSettings,
} from '@laurel/service';
import { z } from 'zod';
import type { TierCeilings } from './domain/tier-ceiling.ts';

const tierCeilings = z.string().transform((text, context): TierCeilings => {
  const [one, two, three, ...rest] = text.split(',').map((amount) => parseAmount(amount.trim()));
  if (one != null && two != null && three != null && rest.length === 0) return [one, two, three];
  context.addIssue('must be the three amounts of tiers 1, 2 and 3, like 25.00,250.00,2500.00');
  return z.NEVER;
});

export const challengeConfigSchema = z
  .object({
    LOG_LEVEL: logLevel.default('info'),
    ...tracingSettings,
    ...channelSettings,
    GRPC_HOST: z.string().default('127.0.0.1'),
    GRPC_PORT: port,
    ADMIN_HOST: z.string().default('127.0.0.1'),
    /** 0 takes any free port. */
    ADMIN_PORT: port.default(0),
    CHALLENGE_DATABASE_URL: databaseUrl,
    ...databaseRoleSettings,
    CHALLENGE_DATABASE_POOL: positiveInt.default(8),
    WALLET_ADDRESS: address,
    /** The secret half of the key that receipts are signed with. */
    RECEIPT_SIGNING_SEED: secretKey,
    /** How long an attempt waits for its outcome. */
    ATTEMPT_TTL_SECONDS: positiveInt.default(3600),
    /** How long a create may be in flight before the sweeper asks the wallet, which writes a tombstone for a fee that never arrived. */
    PENDING_GRACE_SECONDS: positiveInt.default(60),
    SWEEP_INTERVAL_MS: durationMs.default(1_000),
    /**
     * Where events are published; no call waits for it. The URL has the user that may publish this service's events; several servers are
     * separated by commas.
     */
    NATS_URL: natsUrl,
    /** The CA of the certificate that NATS must present, as a PEM file; without it the connection is not encrypted. */
    NATS_CA_FILE: z.string().optional(),
    /** The name of the stream of events and of its subjects; one broker can carry several stacks. */
    EVENTS_PREFIX: z.string().regex(EVENTS_PREFIX, EVENTS_PREFIX_RULE).default('laurel'),
    /** How long an event that is not acknowledged stays in the outbox before it is looked for in the stream. */
    OUTBOX_REPUBLISH_AFTER_MS: durationMs.default(5_000),
    /** The highest prize of integrity tiers 1, 2 and 3. */
    TIER_CEILINGS: tierCeilings.prefault('25.00,250.00,2500.00'),
  })
  .superRefine(checkChannels);

export type ChallengeConfig = z.output<typeof challengeConfigSchema>;
