/** The gateway's wiring, in reading order. Disposing stops it in reverse: no new requests, then those in flight, then what they use. */
import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '@laurel/postgres';
import { type Clock, createLogger, type Logger, startWorker } from '@laurel/service';
import { tracer } from '@laurel/telemetry';
import express, { type Express, Router } from 'express';
import { connectChallenge } from './clients/challenge.ts';
import { connectHealth } from './clients/health.ts';
import { createHotCalls } from './clients/hot-calls.ts';
import { connectTournament } from './clients/tournament.ts';
import { connectWallet } from './clients/wallet.ts';
import { connectWebhook } from './clients/webhook.ts';
import type { GatewayConfig } from './config.ts';
import { admit, createAdmission } from './middleware/admission.ts';
import { claimKey } from './middleware/claim-key.ts';
import { answerFailures, answerMalformed, answerNotFound, forgetUndecodablePath } from './middleware/errors.ts';
import { createIdempotency, type Idempotency } from './middleware/idempotency.ts';
import { keyUseOf } from './middleware/key-use.ts';
import { readRawBody } from './middleware/raw-body.ts';
import { assignRequestId, nameRoute } from './middleware/request-id.ts';
import { createLineOutput } from './middleware/request-log.ts';
import { runRoute } from './middleware/run-route.ts';
import { createSignIn } from './middleware/sign-in.ts';
import { traceRequest } from './middleware/trace-request.ts';
import { inputCheckOf, validate } from './middleware/validate.ts';
import { recordKeyUse } from './repository/admissions.ts';
import { documentationRouter } from './routes/documentation.ts';
import { healthRouter } from './routes/health.ts';
import { operatorRouter } from './routes/operator.ts';
import { portalRouter } from './routes/portal.ts';
import { retiredOutcome } from './routes/retired-outcome.ts';
import { sandboxRouter } from './routes/sandbox.ts';
import { V1_ROUTES } from './routes/v1/index.ts';
import type { V1Dependencies } from './routes/v1/route.ts';
import { createDeleteExpiredSessions } from './workers/delete-expired-sessions.ts';
import { createDeleteOldRecords } from './workers/delete-old-records.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Fast enough that the table stays near a day's size, rare enough to cost nothing. */
const RETENTION_INTERVAL_MS = 60_000;
/** `last_used_at` is for people: half a minute late is fine. */
const KEY_USE_INTERVAL_MS = 30_000;
/** A whole request must have arrived by then; a slower caller holds a connection for nothing. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the idle time of the usual load balancers (60 s), so that it is never us who close under a request. */
const KEEP_ALIVE_MS = 65_000;
/** Room for a header that is far too long to get the answer of its route, and no more. */
const MAX_HEADER_BYTES = 64 * 1024;
/** How long a draining gateway still serves whoever comes: a load balancer needs a moment to notice `/readyz`. */
const DRAIN_GRACE_MS = 1_000;
const DRAIN_POLL_MS = 50;

export async function startGateway(
  config: GatewayConfig,
  logger: Logger,
  clock: Clock = () => new Date(),
): Promise<AsyncDisposable & { port: number }> {
  await using stack = new AsyncDisposableStack();

  const database = stack.use(
    createDatabase({
      url: config.GATEWAY_DATABASE_URL,
      maxConnections: config.GATEWAY_DATABASE_POOL,
      applicationName: 'laurel-gateway',
    }),
  );
  const wallet = stack.use(connectWallet(config.WALLET_ADDRESS));
  const challenge = stack.use(connectChallenge(config.CHALLENGE_ADDRESS));
  const tournament = stack.use(connectTournament(config.TOURNAMENT_ADDRESS));
  const webhook = stack.use(connectWebhook(config.WEBHOOK_ADDRESS));
  // Not the webhook service: without it paid attempts go on, and no load balancer may take them away.
  const services = {
    wallet: stack.use(connectHealth(config.WALLET_ADDRESS)),
    challenge: stack.use(connectHealth(config.CHALLENGE_ADDRESS)),
    tournament: stack.use(connectHealth(config.TOURNAMENT_ADDRESS)),
  };
  const hotCalls = stack.use(createHotCalls({ challenge, tournament }));

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
      pepper: config.KEY_PEPPER,
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
      pepper: config.KEY_PEPPER,
      limits: {
        failuresPerEmail: config.PORTAL_SIGN_IN_FAILURES_PER_EMAIL,
        failuresPerAddress: config.PORTAL_SIGN_IN_FAILURES_PER_ADDRESS,
        windowMs: signInWindowMs,
      },
      sessionMs: config.PORTAL_SESSION_HOURS * HOUR_MS,
      clock,
    }),
  );
  stack.use(
    startWorker({
      name: 'delete-old-idempotency-records',
      intervalMs: RETENTION_INTERVAL_MS,
      runOnce: createDeleteOldRecords(database, retentionMs),
      logger,
      clock,
    }),
  );
  stack.use(
    startWorker({
      name: 'delete-expired-sessions',
      intervalMs: RETENTION_INTERVAL_MS,
      runOnce: createDeleteExpiredSessions(database, signInWindowMs),
      logger,
      clock,
    }),
  );
  stack.use(
    startWorker({
      name: 'record-key-use',
      intervalMs: KEY_USE_INTERVAL_MS,
      runOnce: () => recordKeyUse(database),
      logger,
      clock,
    }),
  );

  let isDraining = false;
  const deps: V1Dependencies = {
    config,
    logger,
    database,
    wallet,
    challenge,
    tournament,
    webhook,
    clock,
    admission,
    signIn,
    hotCalls,
  };
  const health = healthRouter({ database, services, isDraining: () => isDraining });
  const requestLogger = createLogger({ service: 'gateway', level: config.LOG_LEVEL, destination: createLineOutput() });
  const app = createApp(deps, idempotency, health, requestLogger);
  const server = createServerOf(app);
  server.listen(config.HTTP_PORT, config.HTTP_HOST);
  await once(server, 'listening');
  stack.defer(() => drain(server));
  stack.defer(() => {
    isDraining = true;
  });

  const owned = stack.move();
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Express changes the prototypes of every request and response, which makes the engine forget what it knows of them: about 7 % of our
 * own work on a request (measured). Those of this server are born with the prototypes that Express would give them.
 */
function createServerOf(app: Express): Server {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse<IncomingMessage> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as typeof app.request;
  app.response = AppResponse.prototype as typeof app.response;
  const server = createServer({
    IncomingMessage: AppRequest,
    ServerResponse: AppResponse,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  server.on('clientError', answerMalformed);
  server.on('request', app);
  return server;
}

/** The order in which a request passes. */
function createApp(deps: V1Dependencies, idempotency: Idempotency, health: Router, requestLogger: Logger): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', 'simple');

  app.use(assignRequestId(requestLogger));
  if (tracer !== undefined) app.use(['/v1', '/api'], traceRequest);
  app.use('/v1', readRawBody, v1Router(deps, idempotency));
  app.use('/api', readRawBody);
  app.post('/api/attempts/:id/outcome', nameRoute('/api/attempts/{id}/outcome'), retiredOutcome);
  app.use('/api/operator', operatorRouter(deps));
  app.use('/api/portal', portalRouter(deps));
  app.use('/api/sandbox', sandboxRouter(deps));
  app.use(health);
  app.use(documentationRouter());
  app.use(answerNotFound);
  app.use(answerFailures(deps.logger));
  return app;
}

/** The order of the contract: 401, 429, 400, idempotency 409, and then the route's own. */
function v1Router(deps: V1Dependencies, idempotency: Idempotency): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const route of V1_ROUTES) {
    const check = inputCheckOf(route);
    const useOf = keyUseOf(route, check);
    router[route.method](
      route.path.replace(/\{(\w+)\}/g, ':$1'),
      admit(deps.admission, useOf),
      validate(route, check),
      claimKey(useOf, idempotency),
      runRoute(route, deps, idempotency),
    );
  }
  // Also for a method that a path does not have, and for OPTIONS, which the router would answer by itself.
  router.use(forgetUndecodablePath, admit(deps.admission), answerNotFound);
  return router;
}

/**
 * First every answer closes its connection, so that callers go elsewhere between two requests and never in the middle of one; then
 * nothing new is taken, and what is in flight ends.
 */
async function drain(server: Server): Promise<void> {
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
  const graceEndsAt = Date.now() + DRAIN_GRACE_MS;
  while (Date.now() < graceEndsAt && (await countConnections(server)) > 0) await sleep(DRAIN_POLL_MS);
  const closed = once(server, 'close');
  server.close();
  const sweep = setInterval(() => server.closeIdleConnections(), DRAIN_POLL_MS);
  await closed;
  clearInterval(sweep);
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count ?? 0)));
}
