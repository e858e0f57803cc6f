/**
 * The parts that only the webhook service starts. startRpcService starts those of every service.
 */
import { createEgress, egressOptionsOf, urlCheckOf } from '@laurel/egress';
import { createEncryption } from '@laurel/encryption';
import { connectEvents, startConsumer } from '@laurel/events';
import { createStageSampler, verifyAtStart } from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import {
  type Clock,
  DELETE_INTERVAL_MS,
  type Foundation,
  keysOf,
  type Logger,
  REENCRYPT_INTERVAL_MS,
  type RunningService,
  runEach,
  type ServiceParts,
  type SharedProcess,
  startRpcService,
} from '@laurel/service';
import type { WebhookConfig } from './config.ts';
import { createConsumeEvents } from './consumers/consume-events.ts';
import { DELIVERY_STAGES } from './repository/delivery-stages.ts';
import { webhookRpcs } from './rpcs.ts';
import { createDeleteOldRows } from './workers/delete-old-rows.ts';
import { createDispatcher } from './workers/deliver.ts';
import { createReencryptSecrets } from './workers/reencrypt-secrets.ts';

interface ForTests {
  /** Consumes events. The stream's consumer calls it; tests call it themselves. */
  consume(events: readonly Event[]): Promise<void>;
  /** Runs every worker once; tests call this instead of waiting. */
  sweepOnce(): Promise<void>;
  /** Resolves once every due send that this replica knows of has ended and is recorded. */
  whenIdle(): Promise<void>;
}

export type WebhookServer = RunningService & ForTests;

/**
 * Starts the webhook service on a migrated database. Its clock is the database's; tests pass their
 * own.
 */
export function startWebhook(
  config: WebhookConfig,
  logger: Logger,
  testClock?: Clock,
  shared?: SharedProcess,
): Promise<WebhookServer> {
  const database = { url: config.WEBHOOK_DATABASE_URL, maxConnections: config.WEBHOOK_DATABASE_POOL };
  return startRpcService({ name: 'webhook', config, database, logger, testClock, shared }, (foundation) =>
    startParts(config, foundation),
  );
}

/**
 * When the service stops, the returned parts stop in this order: first the consumer, then the sends
 * in flight, which end and are recorded.
 */
async function startParts(
  config: WebhookConfig,
  { database, clock, logger, started }: Foundation,
): Promise<ServiceParts<ForTests>> {
  const encryption = createEncryption(keysOf(config, 'WEBHOOK_SECRET_KEY'));
  const storedSecrets = createReencryptSecrets({ database, encryption, logger });
  started.use(await verifyAtStart(storedSecrets.verifyKeys));
  // All endpoints may share one origin. So an origin gets a connection for every send of both
  // environments, and no endpoint waits for another endpoint's connection.
  const connectionsPerOrigin = 2 * config.WEBHOOK_SENDS;
  const egress = started.use(createEgress({ ...egressOptionsOf(config), connectionsPerOrigin }));
  const { NATS_URL: url, NATS_CA_FILE: caFile, EVENTS_PREFIX: prefix, EVENTS_REPLICAS: replicas } = config;
  const stream = started.use(connectEvents({ url, caFile, prefix, replicas, name: 'laurel-webhook', logger }));

  const limits = {
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
    retryDelaysMs: config.WEBHOOK_RETRY_DELAYS_SECONDS,
    sendsPerEndpoint: config.WEBHOOK_SENDS_PER_ENDPOINT,
    sends: config.WEBHOOK_SENDS,
  };
  const dispatcher = started.use(createDispatcher({ database, egress, encryption, clock, logger, ...limits }));
  const consume = createConsumeEvents({ database, dispatcher, clock });
  started.use(startConsumer({ stream, durable: 'webhook', consume, logger }));

  const deleteOldRows = createDeleteOldRows({ database, logRetentionDays: config.WEBHOOK_LOG_RETENTION_DAYS });
  const workers = [
    { name: 'deliver', intervalMs: config.WEBHOOK_SWEEP_MS, runOnce: dispatcher.runOnce },
    { name: 'delete-old-rows', intervalMs: DELETE_INTERVAL_MS, runOnce: deleteOldRows },
    { name: 'reencrypt-secrets', intervalMs: REENCRYPT_INTERVAL_MS, runOnce: storedSecrets.runOnce },
    createStageSampler(database, DELIVERY_STAGES),
  ];
  const deps = { database, encryption, checkUrl: urlCheckOf(config), dispatcher, clock, logger };
  const forTests = { consume, sweepOnce: () => runEach(workers, clock), whenIdle: dispatcher.whenIdle };
  return { rpcs: [webhookRpcs(deps)], workers, audit: null, forTests };
}
