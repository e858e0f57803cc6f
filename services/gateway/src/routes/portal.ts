/** `/api/portal`: what a developer does with what is theirs (portal-api.md, "Developer portal"). What is not theirs is not found. */
import { type RequestHandler, Router } from 'express';
import type { Dependencies } from '../dependencies.ts';
import { answerNotFound } from '../middleware/errors.ts';
import { requireDeveloper } from '../middleware/session.ts';
import { portalProgramRoutes } from './portal/programs.ts';
import { signInRoute, signOutRoute } from './portal/session.ts';
import { deliveryRoutes } from './portal/webhook-deliveries.ts';
import { webhookEndpointRoutes } from './portal/webhook-endpoints.ts';

/** Mounted at `/api/portal`, behind the request id and the raw body. */
export function portalRouter(deps: Dependencies): Router {
  const router = Router();
  router.use(keepNothing);
  signInRoute(router, deps);
  router.use(requireDeveloper({ database: deps.database, pepper: deps.config.KEY_PEPPER, clock: deps.clock }));
  signOutRoute(router, deps);
  portalProgramRoutes(router, deps);
  webhookEndpointRoutes(router, deps);
  deliveryRoutes(router, deps);
  // Also for OPTIONS, which the router would answer by itself.
  router.use(answerNotFound);
  return router;
}

/** Tokens, keys and secrets are among the answers: no browser and no proxy may store them. */
const keepNothing: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store');
  next();
};
