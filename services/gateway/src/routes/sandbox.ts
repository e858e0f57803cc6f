/** `/api/sandbox`: helpers with which a partner tests an hour in a second (portal-api.md, "Sandbox"). Test keys only. */
import { type RequestHandler, Router } from 'express';
import type { Dependencies } from '../dependencies.ts';
import { authenticate } from '../middleware/admission.ts';
import { sendError } from '../middleware/answer.ts';
import { contextOf } from '../middleware/context.ts';
import { answerNotFound } from '../middleware/errors.ts';
import { sandboxAttemptRoutes } from './sandbox/attempts.ts';
import { sandboxPlayerRoutes } from './sandbox/players.ts';
import { sandboxRoundRoutes } from './sandbox/rounds.ts';
import { sandboxWebhookDeliveryRoutes } from './sandbox/webhook-deliveries.ts';

/** Mounted at `/api/sandbox`, behind the request id and the raw body. The rate limit is one of `/v1`: a request here spends none of it. */
export function sandboxRouter(deps: Dependencies): Router {
  const router = Router();
  router.use(authenticate(deps.admission), requireTestKey);
  sandboxPlayerRoutes(router, deps);
  sandboxAttemptRoutes(router, deps);
  sandboxRoundRoutes(router, deps);
  sandboxWebhookDeliveryRoutes(router, deps);
  // Also for OPTIONS, which the router would answer by itself.
  router.use(answerNotFound);
  return router;
}

/** A live key is a key of the wrong environment here: the same 401 as for any other failure of a key. */
const requireTestKey: RequestHandler = (_request, response, next) => {
  if (contextOf(response).principal?.environment === 'test') return next();
  sendError(response, 'unauthorized');
};
