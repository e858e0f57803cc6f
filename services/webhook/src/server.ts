/**
 * The webhook service's wiring, in the order of its start. Disposal runs in reverse: calls drain, the consumer stops, then the sends in
 * flight end and are recorded.
 */
import { createEgress, egressOptionsOf, urlCheckOf } from '@laurel/egress';
import { createEncryption } from '@laurel/encryption';
import { connectEvents, startConsumer } from '@laurel/events';
import { identityOf, implement, startGrpcServer } from '@laurel/grpc';
import {
  createDatabase,
  createStageSampler,
  SAMPLE_INTERVAL_MS,
  startDatabaseClock,
  verifyAtStart,
  verifyRunningRole,
} from '@laurel/postgres';
import type { Event } from '@laurel/proto/events';
import { WebhookServiceService } from '@laurel/proto/webhook';
import { type Clock, keysOf, type Logger, startAdminServer, startWorker } from '@laurel/service';
import type { WebhookConfig } from './config.ts';
import { createConsumeEvents } from './consumers/consume-events.ts';
import { createEndpoint } from './handlers/create-endpoint.ts';
import { deleteEndpoint } from './handlers/delete-endpoint.ts';
import { getEndpoint } from './handlers/get-endpoint.ts';
import { listDeliveries } from './handlers/list-deliveries.ts';
import { listEndpoints } from './handlers/list-endpoints.ts';
import { listSandboxEvents } from './handlers/list-sandbox-events.ts';
import { putProgram } from './handlers/put-program.ts';
import { resendDelivery } from './handlers/resend-delivery.ts';
import { retryDelivery } from './handlers/retry-delivery.ts';
import { rotateSecret } from './handlers/rotate-secret.ts';
import { sendTest } from './handlers/send-test.ts';
import { updateEndpoint } from './handlers/update-endpoint.ts';
import { DELIVERY_STAGES } from './repository/delivery-stages.ts';
import { createDeleteOldRows } from './workers/delete-old-rows.ts';
import { createDispatcher } from './workers/deliver.ts';
import { createReencryptSecrets } from './workers/reencrypt-secrets.ts';

const DELETE_OLD_ROWS_INTERVAL_MS = 3_600_000;
const REENCRYPT_INTERVAL_MS = 30_000;

export type WebhookServer = AsyncDisposable & {
  readonly port: number;
  readonly adminPort: number;
  /** The intake of events, which the consumer calls; tests call it themselves. */
  consume(events: readonly Event[]): Promise<void>;
  /** One run of every worker; tests call it instead of waiting. */
  sweepOnce(): Promise<void>;
  /** Resolves once every due send that this replica knows of has ended and is recorded. */
  whenIdle(): Promise<void>;
};

/** Starts the webhook service on a migrated database. Its clock is the database's; tests pass their own. */
export async function startWebhook(config: WebhookConfig, logger: Logger, testClock?: Clock): Promise<WebhookServer> {
  await using starting = new AsyncDisposableStack();
  const identity = starting.use(await identityOf(config, logger));
  const database = starting.use(
    createDatabase({
      url: config.WEBHOOK_DATABASE_URL,
      maxConnections: config.WEBHOOK_DATABASE_POOL,
      applicationName: 'laurel-webhook',
    }),
  );
  const isPrivilegedAllowed = config.ALLOW_PRIVILEGED_DATABASE_ROLE;
  starting.use(await verifyRunningRole(database, { isPrivilegedAllowed, logger }));
  const databaseClock = starting.use(await startDatabaseClock({ database, logger }));
  const clock = testClock ?? databaseClock.now;
  const encryption = createEncryption(keysOf(config, 'WEBHOOK_SECRET_KEY'));
  const storedSecrets = createReencryptSecrets({ database, encryption, logger });
  starting.use(await verifyAtStart(storedSecrets.verifyKeys));
  const egress = starting.use(
    createEgress({
      ...egressOptionsOf(config),
      // One origin can have any number of endpoints.
      // Those of both environments, so that none waits for a connection of the other.
      connectionsPerOrigin: 2 * config.WEBHOOK_SENDS,
    }),
  );
  const stream = starting.use(
    connectEvents({
      url: config.NATS_URL,
      caFile: config.NATS_CA_FILE,
      prefix: config.EVENTS_PREFIX,
      replicas: config.EVENTS_REPLICAS,
      name: 'laurel-webhook',
      logger,
    }),
  );

  const dispatcher = starting.use(
    createDispatcher({
      database,
      egress,
      encryption,
      clock,
      logger,
      timeoutMs: config.WEBHOOK_TIMEOUT_MS,
      retryDelaysMs: config.WEBHOOK_RETRY_DELAYS_SECONDS,
      sendsPerEndpoint: config.WEBHOOK_SENDS_PER_ENDPOINT,
      sends: config.WEBHOOK_SENDS,
    }),
  );
  const consume = createConsumeEvents({ database, dispatcher, clock });
  starting.use(startConsumer({ stream, durable: 'webhook', consume, logger }));

  const stages = createStageSampler(database, DELIVERY_STAGES);
  const workers = [
    { name: 'deliver', runOnce: dispatcher.runOnce, intervalMs: config.WEBHOOK_SWEEP_MS },
    {
      name: 'delete-old-rows',
      runOnce: createDeleteOldRows({ database, logRetentionDays: config.WEBHOOK_LOG_RETENTION_DAYS }),
      intervalMs: DELETE_OLD_ROWS_INTERVAL_MS,
    },
    {
      name: 'reencrypt-secrets',
      runOnce: storedSecrets.runOnce,
      intervalMs: REENCRYPT_INTERVAL_MS,
    },
    { name: 'sample-stages', runOnce: stages.runOnce, intervalMs: SAMPLE_INTERVAL_MS },
  ];
  for (const worker of workers) starting.use(startWorker({ ...worker, logger, clock }));

  const checkUrl = urlCheckOf(config);
  const service = implement(
    WebhookServiceService,
    {
      putProgram: putProgram({ database }),
      createEndpoint: createEndpoint({ database, encryption, checkUrl, clock }),
      listEndpoints: listEndpoints({ database }),
      getEndpoint: getEndpoint({ database }),
      updateEndpoint: updateEndpoint({ database, checkUrl, clock }),
      deleteEndpoint: deleteEndpoint({ database, clock }),
      rotateSecret: rotateSecret({ database, encryption }),
      sendTest: sendTest({ database, dispatcher, clock }),
      listDeliveries: listDeliveries({ database }),
      resendDelivery: resendDelivery({ database, dispatcher, clock }),
      retryDelivery: retryDelivery({ database, dispatcher, clock }),
      listSandboxEvents: listSandboxEvents({ database }),
    },
    { logger, callers: ['gateway'] },
  );
  const grpc = starting.use(
    await startGrpcServer({ host: config.GRPC_HOST, port: config.GRPC_PORT, services: [service], identity, logger }),
  );
  const admin = starting.use(
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      isReady: async () => databaseClock.isKnown() && (await database.isReachable()),
    }),
  );

  const running = starting.move();
  return {
    port: grpc.port,
    adminPort: admin.port,
    consume,
    async sweepOnce() {
      for (const { runOnce } of workers) await runOnce(clock());
    },
    whenIdle: dispatcher.whenIdle,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
