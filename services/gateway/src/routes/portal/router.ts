/**
 * `/api/portal`: a developer's access to their own programs and webhooks
 * (docs/contract/portal-api.md, "Developer portal"). Other developers' resources are not found.
 */
import type { Logger } from '@laurel/service';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { SignInByLink } from '../../admission/link-sign-in.ts';
import { limitRate, type RateWindows } from '../../admission/rate-limit.ts';
import { readSignIn } from '../../admission/read-sign-in.ts';
import { requireDeveloper } from '../../admission/session.ts';
import type { SignIn } from '../../admission/sign-in.ts';
import type { Session } from '../../domain/session.ts';
import { contextOf, type RequestContext } from '../../http/context.ts';
import { answerNotFound } from '../../http/errors.ts';
import { type BodyReader, readBodyFor } from '../../http/raw-body.ts';
import { apiArea } from '../../http/route.ts';
import { defined, handleOf, mountRoutes, runRoute } from '../run-route.ts';
import { PORTAL_ROUTES, type PortalServices } from './index.ts';
import { SIGN_IN_ROUTES } from './session.ts';

const area = apiArea('portal');

export interface PortalDependencies extends PortalServices {
  readonly logger: Logger;
  readonly signIn: SignIn;
  readonly signInByLink: SignInByLink;
  readonly limitFailures: RequestHandler;
  readonly rateWindows: RateWindows;
  readonly bodies: BodyReader;
  /** The client's address, also behind proxies. */
  readonly addressOf: (request: Request) => string;
}

/**
 * Mounted at `/api/portal`, after the handler that makes the request id. Checks the session, then
 * the rate, and only then reads the body.
 */
export function portalRouter(deps: PortalDependencies): Router {
  const router = Router();
  mountSignIn(router, deps);
  router.use(
    deps.limitFailures,
    requireDeveloper({
      database: deps.database,
      peppers: deps.peppers,
      clock: deps.clock,
      isCookieSecure: deps.config.PORTAL_COOKIE_SECURE,
    }),
    limitRate({
      windows: deps.rateWindows,
      limit: deps.config.PORTAL_RATE_LIMIT_PER_MINUTE,
      // The rate is not per session, because a developer can have any number of sessions.
      subjectOf: (_request, response) => ['portal', sessionOf(response).developerId],
    }),
    readBodyFor(deps.bodies, (response) => sessionOf(response).developerId),
  );
  const callerOf = ({ session }: RequestContext) => defined(session);
  const changes = { logger: deps.logger, actor: 'developer' } as const;
  mountRoutes(router, PORTAL_ROUTES, (route) =>
    runRoute(route, handleOf(route, deps, { area, callerOf }), { area, changes }),
  );
  // This also answers OPTIONS, which the router would otherwise answer itself.
  router.use(answerNotFound);
  return router;
}

/** The routes of the portal without a session. */
function mountSignIn(router: Router, deps: PortalDependencies): void {
  const { addressOf } = deps;
  const callerOf = (_context: RequestContext, request: Request) => ({ address: addressOf(request) });
  mountRoutes(router, SIGN_IN_ROUTES, (route) => [
    ...readSignIn({ ...deps, limit: deps.config.PORTAL_RATE_LIMIT_PER_MINUTE }),
    runRoute(route, handleOf(route, deps, { area, callerOf }), { area }),
  ]);
}

function sessionOf(response: Response): Session {
  return defined(contextOf(response).session);
}
