/**
 * `/api/sandbox`: routes by which a partner simulates an hour in a second
 * (docs/contract/portal-api.md, "Sandbox"). Test keys only.
 */
import { type RequestHandler, type Response, Router } from 'express';
import { type Admission, authenticate } from '../../admission/admission.ts';
import { limitRate, type RateWindows } from '../../admission/rate-limit.ts';
import type { GatewayConfig } from '../../config.ts';
import type { Principal } from '../../domain/principal.ts';
import { sendError } from '../../http/answer.ts';
import { contextOf, type RequestContext } from '../../http/context.ts';
import { answerNotFound } from '../../http/errors.ts';
import { type BodyReader, readBodyFor } from '../../http/raw-body.ts';
import { apiArea } from '../../http/route.ts';
import { defined, handleOf, mountRoutes, runRoute } from '../run-route.ts';
import { SANDBOX_ROUTES, type SandboxServices } from './index.ts';

const area = apiArea('sandbox');

export interface SandboxDependencies extends SandboxServices {
  readonly config: Pick<GatewayConfig, 'SANDBOX_RATE_LIMIT_PER_MINUTE'>;
  readonly limitFailures: RequestHandler;
  readonly admission: Admission;
  readonly rateWindows: RateWindows;
  readonly bodies: BodyReader;
}

/**
 * Mounted at `/api/sandbox`, after the handler that makes the request id. Checks the key, then the
 * rate, and only then reads the body. The sandbox's own rate counts per program: a request here
 * uses nothing of the limit of `/v1`.
 */
export function sandboxRouter(deps: SandboxDependencies): Router {
  const router = Router();
  router.use(
    deps.limitFailures,
    authenticate(deps.admission),
    requireTestKey,
    limitRate({
      windows: deps.rateWindows,
      limit: deps.config.SANDBOX_RATE_LIMIT_PER_MINUTE,
      subjectOf: (_request, response) => ['sandbox', principalOf(response).programId],
    }),
    readBodyFor(deps.bodies, (response) => principalOf(response).apiKeyId),
  );
  const callerOf = ({ principal }: RequestContext) => defined(principal).tenant;
  mountRoutes(router, SANDBOX_ROUTES, (route) => runRoute(route, handleOf(route, deps, { area, callerOf }), { area }));
  // This also answers OPTIONS, which the router would otherwise answer itself.
  router.use(answerNotFound);
  return router;
}

function principalOf(response: Response): Principal {
  return defined(contextOf(response).principal);
}

/** Refuses a live key with the same 401 as any other key that is not valid here. */
const requireTestKey: RequestHandler = (_request, response, next) => {
  if (contextOf(response).principal?.environment === 'test') return next();
  sendError(response, 'unauthorized');
};
