/** The settings that every service that owns attempts reads alike. Its database and what only it knows are in its own config.ts. */
import { DEFAULT_ATTEMPT_TTL_SECONDS } from '@laurel/attempt';
import { EVENTS_PREFIX, EVENTS_PREFIX_RULE } from '@laurel/events';
import {
  address,
  channelSettings,
  databaseRoleSettings,
  durationMs,
  logLevel,
  natsUrl,
  port,
  positiveInt,
  secretKey,
  tracingSettings,
} from '@laurel/service';
import { z } from 'zod';

export const attemptOwnerSettings = {
  LOG_LEVEL: logLevel.default('info'),
  ...tracingSettings,
  ...channelSettings,
  GRPC_HOST: z.string().default('127.0.0.1'),
  GRPC_PORT: port,
  ADMIN_HOST: z.string().default('127.0.0.1'),
  /** 0 takes any free port. */
  ADMIN_PORT: port.default(0),
  ...databaseRoleSettings,
  WALLET_ADDRESS: address,
  /** The secret half of the key that receipts, and the seals of rounds, are signed with. */
  RECEIPT_SIGNING_SEED: secretKey,
  /** How long an attempt waits for its outcome. */
  ATTEMPT_TTL_SECONDS: positiveInt.default(DEFAULT_ATTEMPT_TTL_SECONDS),
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
};
