/**
 * `/api/operator`: what the platform's own staff may do (docs/contract/portal-api.md, "Operator").
 */
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { admitSignIn, type OperatorAuth, requireOperator, requireSignInToken } from '../../admission/operator-auth.ts';
import type { OperatorTokens } from '../../admission/operator-tokens.ts';
import { limitRate, type RateWindows } from '../../admission/rate-limit.ts';
import { readSignIn } from '../../admission/read-sign-in.ts';
import type { GatewayConfig } from '../../config.ts';
import { contextOf, type RequestContext } from '../../http/context.ts';
import { answerNotFound } from '../../http/errors.ts';
import { type BodyReader, readBodyFor } from '../../http/raw-body.ts';
import { apiArea, type Route } from '../../http/route.ts';
import { inputCheckOf, validate } from '../../http/validate.ts';
import { assertChangesAreRecorded, recordedChange } from '../operator-log.ts';
import { defined, handleOf, mountRoutes, runRoute } from '../run-route.ts';
import { OPERATOR_ROUTES, type OperatorServices } from './index.ts';
import type { OperatorCaller } from './route.ts';
import { OPERATOR_SESSION_ROUTES, type OperatorCredentials, type SessionServices, signInOperator } from './session.ts';

const area = apiArea('operator');

export interface OperatorDependencies extends OperatorServices, SessionServices {
  readonly config: Pick<
    GatewayConfig,
    'OPERATOR_RATE_LIMIT_PER_MINUTE' | 'PORTAL_RATE_LIMIT_PER_MINUTE' | 'PORTAL_COOKIE_SECURE'
  >;
  readonly operatorTokens: OperatorTokens;
  readonly limitFailures: RequestHandler;
  readonly rateWindows: RateWindows;
  readonly bodies: BodyReader;
  /** The client's address, also behind proxies. */
  readonly addressOf: (request: Request) => string;
}

/**
 * Mounted at `/api/operator`, after the handler that makes the request id. Checks the token or the
 * session, then the rate, and only then reads the body; a sign-in, which has its token in the body,
 * has an admission of its own. Paths match exactly, so that no other spelling of the path of the
 * sign-in reaches it without that admission.
 */
export function operatorRouter(deps: OperatorDependencies): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const auth = {
    tokens: deps.operatorTokens,
    sessions: deps.operatorSessions,
    addressOf: deps.addressOf,
    isCookieSecure: deps.config.PORTAL_COOKIE_SECURE,
  };
  router.use(
    admissionOfSignIn(deps, auth).map((handler) => onlyIf(isSignIn, handler)),
    [
      deps.limitFailures,
      requireOperator(auth),
      limitRate({
        windows: deps.rateWindows,
        limit: deps.config.OPERATOR_RATE_LIMIT_PER_MINUTE,
        subjectOf: (_request, response) => ['operator', operatorOf(response)],
      }),
      readBodyFor(deps.bodies, () => 'operator'),
    ].map((handler) => onlyIf((request) => !isSignIn(request), handler)),
  );
  mount(router, OPERATOR_SESSION_ROUTES, deps, ({ operator, operatorSession }) => ({
    name: defined(operator),
    session: operatorSession,
  }));
  mount(router, OPERATOR_ROUTES, deps, ({ operator }) => defined(operator));
  assertChangesAreRecorded(router);
  // This also answers OPTIONS, which the router would otherwise answer itself.
  router.use(answerNotFound);
  return router;
}

function mount<Caller extends string | OperatorCaller>(
  router: Router,
  routes: readonly Route<Caller, OperatorDependencies>[],
  deps: OperatorDependencies,
  callerOf: (context: RequestContext) => Caller,
): void {
  mountRoutes(router, routes, (route) => {
    const handle = handleOf(route, deps, { area, callerOf });
    return route.method === 'get' ? runRoute(route, handle, { area }) : recordedChange(deps, { route, area, handle });
  });
}

function isSignIn({ method, path }: Request): boolean {
  return method === 'POST' && path === signInOperator.path;
}

/** The token is in the body, which is therefore read before the caller is known. */
function admissionOfSignIn(deps: OperatorDependencies, auth: OperatorAuth): RequestHandler[] {
  const sentTokenOf = (response: Response) => {
    const { checked } = contextOf(response);
    if (checked?.kind !== 'valid') throw new Error('the body of a sign-in was not checked');
    return (checked.input.body as OperatorCredentials).token;
  };
  return [
    admitSignIn(auth),
    ...readSignIn({ ...deps, limit: deps.config.PORTAL_RATE_LIMIT_PER_MINUTE }),
    validate(signInOperator, area, inputCheckOf(signInOperator, area)),
    requireSignInToken(auth, sentTokenOf),
  ];
}

function onlyIf(condition: (request: Request) => boolean, handler: RequestHandler): RequestHandler {
  return (request, response, next) => (condition(request) ? handler(request, response, next) : next());
}

function operatorOf(response: Response): string {
  return defined(contextOf(response).operator);
}
