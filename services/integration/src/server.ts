/**
 * The parts that only the integration service starts. startRpcService starts those of every
 * service.
 */
import { connectChallenge, connectTournament, createHotCalls } from '@laurel/attempts/client';
import { createEgress, egressOptionsOf, urlCheckOf } from '@laurel/egress';
import { createEncryption } from '@laurel/encryption';
import { verifyAtStart } from '@laurel/postgres';
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
import { createContestServices } from './clients/contest-services.ts';
import { createReportStore } from './commits/report-store.ts';
import { createRecordSettler } from './commits/settle-records.ts';
import type { IntegrationConfig } from './config.ts';
import { createBodyScheduler } from './domain/body-scheduler.ts';
import { createPollBudget } from './domain/poll-budget.ts';
import { integrationRpcs } from './rpcs.ts';
import { createDeleteOldRows } from './workers/delete-old-rows.ts';
import { createForwardListenedSamples } from './workers/forward-listened-samples.ts';
import { createPoller } from './workers/poll.ts';
import { createReencryptSecrets } from './workers/reencrypt-secrets.ts';
import { createLogWriter } from './workers/write-log.ts';

interface ForTests {
  /** Resolves when the log has the entries of all pushes that got a response. */
  whenLogged(): Promise<void>;
  /**
   * Runs every worker once, and every poll that this begins; tests call this instead of waiting.
   */
  sweepOnce(): Promise<void>;
}

export type IntegrationServer = RunningService & ForTests;

/**
 * Starts the integration service on a migrated database. Its clock is the database's; tests pass
 * their own.
 */
export function startIntegration(
  config: IntegrationConfig,
  logger: Logger,
  testClock?: Clock,
  shared?: SharedProcess,
): Promise<IntegrationServer> {
  const database = { url: config.INTEGRATION_DATABASE_URL, maxConnections: config.INTEGRATION_DATABASE_POOL };
  return startRpcService({ name: 'integration', config, database, logger, testClock, shared }, (foundation) =>
    startParts(config, foundation),
  );
}

/** When the service stops, each poll in flight ends after its current page. */
async function startParts(config: IntegrationConfig, foundation: Foundation): Promise<ServiceParts<ForTests>> {
  const { database, clock, logger, started } = foundation;
  const encryption = createEncryption(keysOf(config, 'INTEGRATION_SECRET_KEY'));
  const storedSecrets = createReencryptSecrets({ database, encryption, logger });
  started.use(await verifyAtStart(storedSecrets.verifyKeys));

  const challenge = started.use(connectChallenge(config.CHALLENGE_ADDRESS, foundation));
  const tournament = started.use(connectTournament(config.TOURNAMENT_ADDRESS, foundation));
  const contests = createContestServices(started.use(createHotCalls({ challenge, tournament })));
  const settler = createRecordSettler({ contests, store: createReportStore({ database }), clock });
  const bodyScheduler = createBodyScheduler();
  const log = started.use(createLogWriter({ database, logger }));
  const { INTEGRATION_POLLS: polls, INTEGRATION_POLLS_PER_ORIGIN: pollsPerOrigin } = config;
  // This suffices for both environments: no live poll waits for the connection of a test poll.
  const egress = started.use(createEgress({ ...egressOptionsOf(config), connectionsPerOrigin: 2 * pollsPerOrigin }));
  const limits = { budget: createPollBudget(), timeoutMs: config.INTEGRATION_POLL_TIMEOUT_MS, pollsPerOrigin, polls };
  const deps = { database, encryption, settler, bodyScheduler, clock, logger };
  const poller = started.use(createPoller({ ...deps, egress, ...limits }));

  const forwardSamples = createForwardListenedSamples({ database, challenge });
  const deleteOldRows = createDeleteOldRows({ database, logRetentionDays: config.INTEGRATION_LOG_RETENTION_DAYS });
  const intervalMs = config.INTEGRATION_SWEEP_MS;
  const workers = [
    { name: 'poll', intervalMs, runOnce: poller.runOnce },
    { name: 'forward-listened-samples', intervalMs, runOnce: forwardSamples },
    { name: 'delete-old-rows', intervalMs: DELETE_INTERVAL_MS, runOnce: deleteOldRows },
    { name: 'reencrypt-secrets', intervalMs: REENCRYPT_INTERVAL_MS, runOnce: storedSecrets.runOnce },
  ];
  const forTests = {
    whenLogged: () => log.drain(),
    async sweepOnce() {
      await runEach(workers, clock);
      await poller.whenIdle();
    },
  };
  return { rpcs: [integrationRpcs({ ...deps, checkUrl: urlCheckOf(config), log })], workers, audit: null, forTests };
}
