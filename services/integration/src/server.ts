/**
 * The integration service's wiring, in the order of its start. Disposal runs in reverse: calls drain first, then each poll in flight ends
 * with its page.
 */
import { connectChallenge, connectTournament, createHotCalls } from '@laurel/attempts/client';
import { createEgress, egressOptionsOf, urlCheckOf } from '@laurel/egress';
import { createEncryption } from '@laurel/encryption';
import { identityOf, implement, startGrpcServer } from '@laurel/grpc';
import { createDatabase, startDatabaseClock, verifyAtStart, verifyRunningRole } from '@laurel/postgres';
import { IntegrationServiceService } from '@laurel/proto/integration';
import { type Clock, keysOf, type Logger, startAdminServer, startWorker } from '@laurel/service';
import { createOwners } from './clients/owners.ts';
import type { IntegrationConfig } from './config.ts';
import { createPollBudget } from './domain/poll-budget.ts';
import { createTurns } from './domain/turns.ts';
import { createIntegration } from './handlers/create-integration.ts';
import { dryRun } from './handlers/dry-run.ts';
import { listIntegrations } from './handlers/list-integrations.ts';
import { listLog } from './handlers/list-log.ts';
import { putProgram } from './handlers/put-program.ts';
import { receivePushes } from './handlers/receive-pushes.ts';
import { createReportStore } from './handlers/report-store.ts';
import { retirePreviousSecret } from './handlers/retire-previous-secret.ts';
import { rotateSecret } from './handlers/rotate-secret.ts';
import { createRecordSettler } from './handlers/settle-records.ts';
import { updateIntegration } from './handlers/update-integration.ts';
import { createDeleteOldRows } from './workers/delete-old-rows.ts';
import { createForwardListenedSamples } from './workers/forward-listened-samples.ts';
import { createPoller } from './workers/poll.ts';
import { createReencryptSecrets } from './workers/reencrypt-secrets.ts';
import { createLogWriter } from './workers/write-log.ts';

const DELETE_OLD_ROWS_INTERVAL_MS = 3_600_000;
const REENCRYPT_INTERVAL_MS = 30_000;

export type IntegrationServer = AsyncDisposable & {
  readonly port: number;
  readonly adminPort: number;
  /** Resolves when the log has every entry of the pushes that were answered. */
  whenLogged(): Promise<void>;
  /** One run of every worker, and every poll that it begins; tests call it instead of waiting. */
  sweepOnce(): Promise<void>;
};

/** Starts the integration service on a migrated database. Its clock is the database's; tests pass their own. */
export async function startIntegration(
  config: IntegrationConfig,
  logger: Logger,
  testClock?: Clock,
): Promise<IntegrationServer> {
  await using starting = new AsyncDisposableStack();
  const identity = starting.use(await identityOf(config, logger));
  const database = starting.use(
    createDatabase({
      url: config.INTEGRATION_DATABASE_URL,
      maxConnections: config.INTEGRATION_DATABASE_POOL,
      applicationName: 'laurel-integration',
    }),
  );
  const isPrivilegedAllowed = config.ALLOW_PRIVILEGED_DATABASE_ROLE;
  starting.use(await verifyRunningRole(database, { isPrivilegedAllowed, logger }));
  const databaseClock = starting.use(await startDatabaseClock({ database, logger }));
  const clock = testClock ?? databaseClock.now;
  const encryption = createEncryption(keysOf(config, 'INTEGRATION_SECRET_KEY'));
  const storedSecrets = createReencryptSecrets({ database, encryption, logger });
  starting.use(await verifyAtStart(storedSecrets.verifyKeys));
  const checkUrl = urlCheckOf(config);

  const challenge = starting.use(connectChallenge(config.CHALLENGE_ADDRESS, identity));
  const tournament = starting.use(connectTournament(config.TOURNAMENT_ADDRESS, identity));
  const hotCalls = starting.use(createHotCalls({ challenge, tournament }));
  const settler = createRecordSettler({
    owners: createOwners(hotCalls),
    store: createReportStore({ database }),
    clock,
  });
  const turns = createTurns();
  const log = starting.use(createLogWriter({ database, logger }));
  const egress = starting.use(
    // Of each environment: a test poll never waits for a connection in front of a live one.
    createEgress({ ...egressOptionsOf(config), connectionsPerOrigin: 2 * config.INTEGRATION_POLLS_PER_ORIGIN }),
  );
  const poller = starting.use(
    createPoller({
      database,
      egress,
      encryption,
      settler,
      turns,
      budget: createPollBudget(),
      clock,
      logger,
      timeoutMs: config.INTEGRATION_POLL_TIMEOUT_MS,
      pollsPerOrigin: config.INTEGRATION_POLLS_PER_ORIGIN,
      polls: config.INTEGRATION_POLLS,
    }),
  );

  const workers = [
    { name: 'poll', runOnce: poller.runOnce, intervalMs: config.INTEGRATION_SWEEP_MS },
    {
      name: 'forward-listened-samples',
      runOnce: createForwardListenedSamples({ database, challenge }),
      intervalMs: config.INTEGRATION_SWEEP_MS,
    },
    {
      name: 'delete-old-rows',
      runOnce: createDeleteOldRows({ database, logRetentionDays: config.INTEGRATION_LOG_RETENTION_DAYS }),
      intervalMs: DELETE_OLD_ROWS_INTERVAL_MS,
    },
    {
      name: 'reencrypt-secrets',
      runOnce: storedSecrets.runOnce,
      intervalMs: REENCRYPT_INTERVAL_MS,
    },
  ];
  for (const worker of workers) starting.use(startWorker({ ...worker, logger, clock }));

  const service = implement(
    IntegrationServiceService,
    {
      putProgram: putProgram({ database }),
      createIntegration: createIntegration({ database, encryption, checkUrl, clock }),
      listIntegrations: listIntegrations({ database }),
      updateIntegration: updateIntegration({ database, encryption, checkUrl, clock }),
      rotateSecret: rotateSecret({ database, encryption }),
      retirePreviousSecret: retirePreviousSecret({ database }),
      receivePushes: receivePushes({ database, encryption, settler, log, turns, clock, logger }),
      dryRun: dryRun({ turns }),
      listLog: listLog({ database }),
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
    whenLogged: () => log.drain(),
    async sweepOnce() {
      for (const { runOnce } of workers) await runOnce(clock());
      await poller.whenIdle();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
