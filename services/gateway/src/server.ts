/**
 * Starts the gateway, in this order: the foundation of every service, its clients, admission, its
 * workers and its audit, its limits, and its two ports. It stops in reverse: no new requests, then
 * those in flight, then what they use.
 */
import {
  type Clock,
  createLogger,
  type Logger,
  type RunningService,
  type SharedProcess,
  standardOutput,
  startAdmin,
  startAudit,
  startFoundation,
  startWorkers,
} from '@laurel/service';
import { startAdmission } from './admission/start-admission.ts';
import { createApp } from './app.ts';
import { connectServices } from './clients/connect-services.ts';
import type { GatewayConfig } from './config.ts';
import { startPublicPort } from './public-port.ts';
import { auditGateway } from './repository/audit.ts';
import { startRequestLog } from './request-log/request-log.ts';
import { signingKeyListRouter } from './routes/signing-key-list.ts';
import { startLimits } from './start-limits.ts';
import { gatewayWorkers } from './workers/workers.ts';

/**
 * Starts the gateway on a migrated database. Its clock is the database's time; tests pass their own
 * clock.
 */
export async function startGateway(
  config: GatewayConfig,
  logger: Logger,
  testClock?: Clock,
  shared?: SharedProcess,
): Promise<RunningService> {
  await using started = new AsyncDisposableStack();
  const url = config.GATEWAY_DATABASE_URL;
  const database = { url, maxConnections: config.GATEWAY_DATABASE_POOL };
  const options = { name: 'gateway', config, database, logger, testClock, shared } as const;
  const foundation = await startFoundation(options, started);
  const { databaseClock, clock } = foundation;
  const { findMissing, signingKeys, ...clients } = connectServices(config, foundation);
  const admission = startAdmission(config, foundation);
  startWorkers(foundation, gatewayWorkers({ ...foundation, ...admission, ...clients }));
  startAudit(foundation, {
    intervalSeconds: config.AUDIT_INTERVAL_SECONDS,
    run: (signal) => auditGateway(foundation.database, signal),
  });
  const limits = startLimits(config, foundation);
  const requestLog = config.REQUEST_LOG_ENABLED ? started.use(startRequestLog(foundation)) : undefined;

  let state: 'starting' | 'serving' | 'draining' = 'starting';
  const readiness = {
    isServing: () => state === 'serving',
    isReady: async () => {
      const isReachable = await foundation.database.isReachable();
      return { missing: [...(databaseClock.isKnown() ? [] : ['the time']), ...(isReachable ? [] : ['database'])] };
    },
    dependencies: async () => ({ missing: await findMissing() }),
  };
  const adminPort = await startAdmin(options, readiness, started);

  const deps = {
    config,
    logger,
    database: foundation.database,
    clock,
    ...clients,
    ...admission,
    ...limits,
    requestLog,
  };
  const requestLines = { write: (line: string) => standardOutput.writeSoon(line) };
  const requestLogger = createLogger({ service: 'gateway', level: config.LOG_LEVEL, destination: requestLines });
  const app = createApp(deps, signingKeyListRouter(signingKeys), requestLogger, limits.isProxy);
  const port = await startPublicPort(app, config, limits.isProxy, foundation);
  state = 'serving';
  started.defer(() => {
    state = 'draining';
  });

  const running = started.move();
  return { port, adminPort, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
