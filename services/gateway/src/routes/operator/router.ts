/**
 * `/api/operator`: what the platform's own staff may do (docs/contract/portal-api.md, "Operator").
 */
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { requireOperator } from '../../admission/operator-auth.ts';
import { limitRate, type RateWindows } from '../../admission/rate-limit.ts';
import { type GatewayConfig, operatorsOf } from '../../config.ts';
import { contextOf, type RequestContext } from '../../http/context.ts';
import { answerNotFound } from '../../http/errors.ts';
import { type BodyReader, readBodyFor } from '../../http/raw-body.ts';
import { apiArea } from '../../http/route.ts';
import { assertChangesAreRecorded, recordedChange } from '../operator-log.ts';
import { handleOf, mountRoutes, present, runRoute } from '../run-route.ts';
import { OPERATOR_ROUTES, type OperatorServices } from './index.ts';

const area = apiArea('operator');

export interface OperatorDependencies extends OperatorServices {
  readonly config: Pick<GatewayConfig, 'OPERATOR_TOKEN' | 'OPERATOR_TOKENS' | 'OPERATOR_RATE_LIMIT_PER_MINUTE'>;
  readonly limitFailures: RequestHandler;
  readonly rateWindows: RateWindows;
  readonly bodies: BodyReader;
  /** The client's address, also behind proxies. */
  readonly addressOf: (request: Request) => string;
}

/**
 * Mounted at `/api/operator`, behind the request id. Checks the token, then the rate, and only then
 * reads the body.
 */
export function operatorRouter(deps: OperatorDependencies): Router {
  const router = Router();
  router.use(
    deps.limitFailures,
    requireOperator({ tokens: operatorsOf(deps.config), clock: deps.clock, addressOf: deps.addressOf }),
    limitRate({
      windows: deps.rateWindows,
      limit: deps.config.OPERATOR_RATE_LIMIT_PER_MINUTE,
      subjectOf: (_request, response) => ['operator', operatorOf(response)],
    }),
    readBodyFor(deps.bodies, () => 'operator'),
  );
  const callerOf = ({ operator }: RequestContext) => present(operator);
  mountRoutes(router, OPERATOR_ROUTES, (route) => {
    const handle = handleOf(route, deps, { area, callerOf });
    return route.method === 'get' ? runRoute(route, handle, { area }) : recordedChange(deps, { route, area, handle });
  });
  assertChangesAreRecorded(router);
  // Also for OPTIONS, which the router would otherwise answer.
  router.use(answerNotFound);
  return router;
}

function operatorOf(response: Response): string {
  return present(contextOf(response).operator);
}
