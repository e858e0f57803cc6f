/** The app: every router, in the order in which a request passes through them. */
import type { Logger } from '@laurel/service';
import { tracer } from '@laurel/telemetry';
import express, { type Express, type Router } from 'express';
import { limitClientRequests } from './admission/client-requests.ts';
import type { GatewayConfig } from './config.ts';
import { answerFailures, answerNotFound } from './http/errors.ts';
import { assignRequestId } from './http/request-id.ts';
import { traceRequest } from './http/trace-request.ts';
import { documentationRouter } from './openapi/documentation.ts';
import { SITE_FOLDER } from './openapi/documentation-site.ts';
import type { RequestLog } from './request-log/request-log.ts';
import { answerHealth } from './routes/health.ts';
import { type OperatorDependencies, operatorRouter } from './routes/operator/router.ts';
import { type PortalDependencies, portalRouter } from './routes/portal/router.ts';
import { servePages } from './routes/portal-pages.ts';
import { type PushDependencies, pushOutcome } from './routes/push-outcome.ts';
import { retiredOutcome } from './routes/retired-outcome.ts';
import { type SandboxDependencies, sandboxRouter } from './routes/sandbox/router.ts';
import { type V1Dependencies, v1Router } from './routes/v1/router.ts';

/** The dependencies of all routes: each area names its own part, and each route its own. */
export type AppDependencies = V1Dependencies &
  PushDependencies &
  OperatorDependencies &
  PortalDependencies &
  SandboxDependencies & {
    readonly config: GatewayConfig;
    /** Undefined if the request log is switched off. */
    readonly requestLog: RequestLog | undefined;
  };

export function createApp(
  deps: AppDependencies,
  keyList: Router,
  requestLogger: Logger,
  isProxy: (address: string) => boolean,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', 'simple');

  app.use(assignRequestId(requestLogger, deps.requestLog));
  if (tracer !== undefined) app.use(['/v1', '/webhooks', '/api'], traceRequest);
  const { addressOf, config } = deps;
  if (config.TRUSTED_PROXIES !== undefined) {
    app.use(limitClientRequests({ maxPerAddress: config.MAX_CONNECTIONS_PER_ADDRESS, isProxy, addressOf }));
  }
  app.use('/v1', v1Router(deps));
  app.use('/webhooks', pushOutcome(deps));
  app.use('/api/attempts', retiredOutcome);
  app.use('/api/operator', operatorRouter(deps));
  app.use('/api/portal', portalRouter(deps));
  app.use('/api/sandbox', sandboxRouter(deps));
  app.get('/healthz', answerHealth);
  app.use(keyList);
  app.use(documentationRouter(config.DOCS_ENABLED ? SITE_FOLDER : undefined));
  if (config.PORTAL_ENABLED) app.use(servePages('portal'));
  if (config.OPERATOR_PAGES_ENABLED) app.use(servePages('operator'));
  app.use(answerNotFound);
  app.use(answerFailures(deps.logger));
  return app;
}
