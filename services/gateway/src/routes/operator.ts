/** `/api/operator`: what our own staff may do (portal-api.md, "Operator"). */
import { Router } from 'express';
import type { Dependencies } from '../dependencies.ts';
import { answerNotFound } from '../middleware/errors.ts';
import { requireOperator } from '../middleware/operator-auth.ts';
import { accountRoutes } from './operator/accounts.ts';
import { attemptRoutes } from './operator/attempts.ts';
import { auditRoutes } from './operator/audit.ts';
import { challengeRoutes } from './operator/challenges.ts';
import { developerRoutes } from './operator/developers.ts';
import { payoutRoutes } from './operator/payouts.ts';
import { programRoutes } from './operator/programs.ts';
import { receiptRoutes } from './operator/receipts.ts';
import { tournamentRoutes } from './operator/tournaments.ts';

/** Mounted at `/api/operator`, behind the request id and the raw body. */
export function operatorRouter(deps: Dependencies): Router {
  const router = Router();
  router.use(requireOperator(deps.config.OPERATOR_TOKEN));
  developerRoutes(router, deps);
  programRoutes(router, deps);
  accountRoutes(router, deps);
  challengeRoutes(router, deps);
  tournamentRoutes(router, deps);
  payoutRoutes(router, deps);
  attemptRoutes(router, deps);
  receiptRoutes(router, deps);
  auditRoutes(router, deps);
  // Also for OPTIONS, which the router would answer by itself.
  router.use(answerNotFound);
  return router;
}
