/** The gateway's wiring, in reading order. Disposing stops it in reverse: no new requests, then those in flight, then what they use. */

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectChallenge, connectTournament, createHotCalls } from '@laurel/attempts/client';
import { identityOf } from '@laurel/grpc';
import { createContinuousAudit, createDatabase, startDatabaseClock, verifyRunningRole } from '@laurel/postgres';
import {
  type Clock,
  createLogger,
  keysOf,
  type Logger,
  standardOutput,
  startAdminServer,
  startWorker,
} from '@laurel/service';
import { createByteBudgets } from '@laurel/tenant';
import type { Express, Request } from 'express';
import { createAdmission } from './admission/admission.ts';
import { createBodyBudget } from './admission/body-budget.ts';
import { type Connections, connectionsByDescriptors, limitConnections } from './admission/connections.ts';
import { createPushLimits } from './admission/push-limits.ts';
import { createRateWindows, limitFailures } from './admission/rate-limit.ts';
import { createSignIn } from './admission/sign-in.ts';
import { type AppDependencies, createApp } from './app.ts';
import { connectHealth } from './clients/health.ts';
import { connectIntegration } from './clients/integration.ts';
import { createPushes } from './clients/pushes.ts';
import { createSandboxPlayers } from './clients/sandbox-players.ts';
import { createSigningKeys } from './clients/signing-keys.ts';
import { connectWallet } from './clients/wallet.ts';
import { connectWebhook } from './clients/webhook.ts';
import type { GatewayConfig } from './config.ts';
import { clientAddressOf, trustedProxiesOf } from './domain/client-address.ts';
import { peppersOf } from './domain/peppers.ts';
import { contextOf } from './http/context.ts';
import { answerMalformed } from './http/errors.ts';
import { createHttpServer, drain } from './http/http-server.ts';
import { createBodyReader } from './http/raw-body.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import { recordKeyUse } from './repository/admissions.ts';
import { auditGateway } from './repository/audit.ts';
import { keyListRouter } from './routes/key-list.ts';
import { DRY_RUN_BYTES_PER_SECOND } from './routes/portal/integrations.ts';
import { ownersOfPushedBody } from './routes/push-outcome.ts';
import { createAnnouncePrograms } from './workers/announce-programs.ts';
import { createDeleteExpiredSessions } from './workers/delete-expired-sessions.ts';
import { createDeleteOldRecords } from './workers/delete-old-records.ts';
import { createDeleteOldWindows } from './workers/delete-old-windows.ts';
import { createRehashKeys } from './workers/rehash-keys.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Fast enough that the table stays near a day's size, rare enough to cost nothing. */
const RETENTION_INTERVAL_MS = 60_000;
/** The windows are scanned whole to find the old ones: no index covers their age. */
const WINDOWS_INTERVAL_MS = 600_000;
/** `last_used_at` is for people: half a minute late is fine. */
const KEY_USE_INTERVAL_MS = 30_000;
/** How long after a time without the integration service it may go on with what it knew of a program. */
const ANNOUNCE_INTERVAL_MS = 5_000;

/** Starts the gateway on a migrated database. Its clock is the database's time; tests pass a clock of their own. */
export async function startGateway(
  config: GatewayConfig,
  logger: Logger,
  testClock?: Clock,
): Promise<AsyncDisposable & { port: number; adminPort: number }> {
  await using stack = new AsyncDisposableStack();

  const identity = stack.use(await identityOf(config, logger));
  const database = stack.use(
    createDatabase({
      url: config.GATEWAY_DATABASE_URL,
      maxConnections: config.GATEWAY_DATABASE_POOL,
      applicationName: 'laurel-gateway',
    }),
  );
  const isPrivilegedAllowed = config.ALLOW_PRIVILEGED_DATABASE_ROLE;
  stack.use(await verifyRunningRole(database, { isPrivilegedAllowed, logger }));
  const databaseClock = stack.use(await startDatabaseClock({ database, logger }));
  const clock = testClock ?? databaseClock.now;
  const wallet = stack.use(connectWallet(config.WALLET_ADDRESS, identity));
  const challenge = stack.use(connectChallenge(config.CHALLENGE_ADDRESS, identity));
  const tournament = stack.use(connectTournament(config.TOURNAMENT_ADDRESS, identity));
  const webhook = stack.use(connectWebhook(config.WEBHOOK_ADDRESS, identity));
  const integration = stack.use(connectIntegration(config.INTEGRATION_ADDRESS, identity));
  const services = [
    stack.use(connectHealth('wallet', config.WALLET_ADDRESS, identity)),
    stack.use(connectHealth('challenge', config.CHALLENGE_ADDRESS, identity)),
    stack.use(connectHealth('tournament', config.TOURNAMENT_ADDRESS, identity)),
    stack.use(connectHealth('webhook', config.WEBHOOK_ADDRESS, identity)),
    stack.use(connectHealth('integration', config.INTEGRATION_ADDRESS, identity)),
  ];
  const hotCalls = stack.use(createHotCalls({ challenge, tournament }));
  const pushes = stack.use(createPushes(integration));
  const sandboxPlayers = stack.use(createSandboxPlayers(wallet));
  const signingKeys = createSigningKeys([challenge, tournament]);

  const keys = keysOf(config, 'KEY_PEPPER');
  const peppers = peppersOf(keys.current, keys.accepted);
  const retentionMs = config.IDEMPOTENCY_RETENTION_HOURS * HOUR_MS;
  const idempotency = stack.use(
    createIdempotency({
      database,
      clock,
      logger,
      takeoverMs: config.IDEMPOTENCY_TAKEOVER_SECONDS * SECOND_MS,
      retentionMs,
    }),
  );
  const admission = stack.use(
    createAdmission({
      database,
      idempotency,
      peppers,
      acceptedEnvironments: config.ACCEPTED_ENVIRONMENTS,
      limit: config.RATE_LIMIT_PER_MINUTE,
      clock,
      logger,
    }),
  );
  const signInWindowMs = config.PORTAL_SIGN_IN_WINDOW_MINUTES * MINUTE_MS;
  const signIn = stack.use(
    createSignIn({
      database,
      peppers,
      limits: {
        failuresPerPair: config.PORTAL_SIGN_IN_FAILURES,
        failuresPerEmail: config.PORTAL_SIGN_IN_FAILURES_PER_EMAIL,
        failuresPerAddress: config.PORTAL_SIGN_IN_FAILURES_PER_ADDRESS,
        windowMs: signInWindowMs,
        firstDelayMs: config.PORTAL_SIGN_IN_FIRST_DELAY_SECONDS * SECOND_MS,
        maxDelayMs: config.PORTAL_SIGN_IN_MAX_DELAY_SECONDS * SECOND_MS,
      },
      sessionMs: config.PORTAL_SESSION_HOURS * HOUR_MS,
      clock,
    }),
  );
  const workers = [
    {
      name: 'delete-old-idempotency-records',
      intervalMs: RETENTION_INTERVAL_MS,
      runOnce: createDeleteOldRecords(database, retentionMs),
    },
    {
      name: 'delete-expired-sessions',
      intervalMs: RETENTION_INTERVAL_MS,
      runOnce: createDeleteExpiredSessions(database, signInWindowMs),
    },
    { name: 'delete-old-rate-windows', intervalMs: WINDOWS_INTERVAL_MS, runOnce: createDeleteOldWindows(database) },
    { name: 'record-key-use', intervalMs: KEY_USE_INTERVAL_MS, runOnce: () => recordKeyUse(database) },
    {
      name: 'rehash-keys',
      intervalMs: KEY_USE_INTERVAL_MS,
      runOnce: createRehashKeys({ database, admission, peppers, logger }),
    },
    {
      name: 'announce-programs',
      intervalMs: ANNOUNCE_INTERVAL_MS,
      runOnce: createAnnouncePrograms({ database, integration, logger }),
    },
  ];
  for (const worker of workers) stack.use(startWorker({ ...worker, logger, clock }));

  const auditIntervalMs = config.AUDIT_INTERVAL_SECONDS * 1_000;
  const auditor = createContinuousAudit({
    database,
    intervalMs: auditIntervalMs,
    run: (signal) => auditGateway(database, signal),
    logger,
  });
  stack.use(startWorker({ name: 'audit', intervalMs: auditor.pollMs, runOnce: auditor.runOnce, logger, clock }));
  // Its worker waits for the run under way, so that run is ended first.
  stack.use(auditor);

  const rateWindows = stack.use(createRateWindows({ database, pepper: config.KEY_PEPPER, logger }));
  const isProxy = trustedProxiesOf(config.TRUSTED_PROXIES);
  const addressOf = ({ socket, headers }: Request) => {
    const forwardedFor = headers['x-forwarded-for'];
    return clientAddressOf(
      socket.remoteAddress ?? '',
      typeof forwardedFor === 'string' ? forwardedFor : undefined,
      isProxy,
    );
  };

  let state: 'starting' | 'serving' | 'draining' = 'starting';
  const admin = stack.use(
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      isServing: () => state === 'serving',
      isReady: async () => {
        const isReachable = await database.isReachable();
        return { missing: [...(databaseClock.isKnown() ? [] : ['the time']), ...(isReachable ? [] : ['database'])] };
      },
      dependencies: async () => {
        const checks = await Promise.all(services.map(({ isServing }) => isServing()));
        return { missing: services.flatMap(({ service }, index) => (checks[index] ? [] : [service])) };
      },
    }),
  );

  const deps: AppDependencies = {
    config,
    peppers,
    logger,
    database,
    wallet,
    challenge,
    tournament,
    webhook,
    integration,
    pushes,
    sandboxPlayers,
    clock,
    admission,
    idempotency,
    signIn,
    bodies: createBodyReader(createBodyBudget(config.MAX_BODY_KIB_IN_FLIGHT)),
    pushBodies: createBodyReader(createBodyBudget(config.MAX_PUSH_KIB_IN_FLIGHT, ownersOfPushedBody)),
    pushLimits: createPushLimits({
      perIntegration: config.PUSH_RATE_LIMIT_PER_MINUTE,
      perAddress: config.PUSH_ADDRESS_RATE_LIMIT_PER_MINUTE,
      unknownBytesPerSecond: config.PUSH_UNKNOWN_KIB_PER_SECOND,
      bytesPerSecond: { live: config.PUSH_LIVE_KIB_PER_SECOND, test: config.PUSH_TEST_KIB_PER_SECOND },
    }),
    dryRunBudgets: createByteBudgets(DRY_RUN_BYTES_PER_SECOND),
    rateWindows,
    addressOf,
    limitFailures: limitFailures({ limit: config.API_FAILURES_PER_MINUTE, addressOf }),
    hotCalls,
  };
  const requestLines = { write: (line: string) => standardOutput.writeSoon(line) };
  const requestLogger = createLogger({ service: 'gateway', level: config.LOG_LEVEL, destination: requestLines });
  const app = createApp(deps, keyListRouter(signingKeys), requestLogger, isProxy);
  const byDescriptors = connectionsByDescriptors();
  if (byDescriptors < config.MAX_CONNECTIONS) logger.warn({ byDescriptors }, 'too few descriptors for MAX_CONNECTIONS');
  const server = createHttpServer(app);
  const connections = stack.use(
    limitConnections(server, {
      maxConnections: Math.min(config.MAX_CONNECTIONS, byDescriptors),
      maxPerAddress: config.MAX_CONNECTIONS_PER_ADDRESS,
      abort: (socket) => answerMalformed(new Error('its body stalled'), socket),
      isProxy,
    }),
  );
  serve(server, app, connections);
  server.listen(config.HTTP_PORT, config.HTTP_HOST);
  await once(server, 'listening');
  state = 'serving';
  stack.defer(() => drain(server));
  stack.defer(() => {
    state = 'draining';
  });

  const owned = stack.move();
  return {
    port: (server.address() as AddressInfo).port,
    adminPort: admin.port,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function serve(server: Server, app: Express, connections: Connections): void {
  server.on('request', (request, response: Parameters<Express>[1]) => {
    if (connections.begin(request, response, () => contextOf(response).isCallerKnown)) {
      app(request as Parameters<Express>[0], response);
    }
  });
}
