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
  standardOutput,
  startAdminServer,
  startAudit,
  startFoundation,
  startWorkers,
} from '@laurel/service';
import { startAdmission } from './admission/start-admission.ts';
import { createApp } from './app.ts';
import { connectServices } from './clients/connect-services.ts';
import type { GatewayConfig } from './config.ts';
import { startLimits } from './limits.ts';
import { startPublicPort } from './public-port.ts';
import { auditGateway } from './repository/audit.ts';
import { startRequestLog } from './request-log/request-log.ts';
import { keyListRouter } from './routes/key-list.ts';
import { gatewayWorkers } from './workers/workers.ts';

/**
 * Starts the gateway on a migrated database. Its clock is the database's time; tests pass their own
 * clock.
 */
export async function startGateway(config: GatewayConfig, logger: Logger, testClock?: Clock): Promise<RunningService> {
  await using started = new AsyncDisposableStack();
  const url = config.GATEWAY_DATABASE_URL;
  const foundation = await startFoundation(
    { name: 'gateway', config, database: { url, maxConnections: config.GATEWAY_DATABASE_POOL }, logger, testClock },
    started,
  );
  const { database, databaseClock, clock } = foundation;
  const { findMissing, signingKeys, ...clients } = connectServices(config, foundation);
  const admission = startAdmission(config, foundation);
  startWorkers(foundation, gatewayWorkers({ ...foundation, ...admission, ...clients }));
  startAudit(foundation, {
    intervalSeconds: config.AUDIT_INTERVAL_SECONDS,
    run: (signal) => auditGateway(database, signal),
  });
  const limits = startLimits(config, foundation);
  const requestLog = config.REQUEST_LOG_ENABLED ? started.use(startRequestLog(foundation)) : undefined;

  let state: 'starting' | 'serving' | 'draining' = 'starting';
  const admin = started.use(
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      isServing: () => state === 'serving',
      isReady: async () => {
        const isReachable = await database.isReachable();
        return { missing: [...(databaseClock.isKnown() ? [] : ['the time']), ...(isReachable ? [] : ['database'])] };
      },
      dependencies: async () => ({ missing: await findMissing() }),
    }),
  );

  const deps = { config, logger, database, clock, ...clients, ...admission, ...limits, requestLog };
  const requestLines = { write: (line: string) => standardOutput.writeSoon(line) };
  const requestLogger = createLogger({ service: 'gateway', level: config.LOG_LEVEL, destination: requestLines });
  const app = createApp(deps, keyListRouter(signingKeys), requestLogger, limits.isProxy);
  const port = await startPublicPort(app, config, limits.isProxy, foundation);
  state = 'serving';
  started.defer(() => {
    state = 'draining';
  });

  const running = started.move();
  return { port, adminPort: admin.port, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
