/** `/v1`: each request is checked in the order of `check-order.ts`. */
import type { Clock } from '@laurel/service';
import { Router } from 'express';
import { type Admission, admit } from '../../admission/admission.ts';
import { answerNoRoute, ignoreUndecodablePath } from '../../http/errors.ts';
import type { BodyReader } from '../../http/raw-body.ts';
import { V1_AREA as area } from '../../http/route.ts';
import { inputCheckOf, validate } from '../../http/validate.ts';
import type { Idempotency } from '../../idempotency/idempotency.ts';
import { idempotencyUseOf } from '../../idempotency/idempotency-use.ts';
import { lockIdempotencyKey } from '../../idempotency/lock-idempotency-key.ts';
import { defined, handleOf, mountRoutes, runRoute } from '../run-route.ts';
import { inCheckOrder } from './check-order.ts';
import { V1_ROUTES, type V1Services } from './index.ts';

export interface V1Dependencies extends V1Services {
  readonly admission: Admission;
  readonly bodies: BodyReader;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
}

export function v1Router(deps: V1Dependencies): Router {
  const { admission, bodies, idempotency } = deps;
  const router = Router({ caseSensitive: true, strict: true });
  mountRoutes(router, V1_ROUTES, (route) => {
    const check = inputCheckOf(route, area);
    const useOf = idempotencyUseOf(route, check);
    const handle = handleOf(route, deps, { area, callerOf: ({ principal }) => defined(principal), check, keys: deps });
    return inCheckOrder({
      admission: admit(admission, { bodies: route.body === undefined ? undefined : bodies, useOf }),
      validation: validate(route, area, check),
      idempotencyLock: lockIdempotencyKey(useOf, idempotency),
      route: runRoute(route, handle, { area, keys: deps }),
    });
  });
  // This also answers a method that a path does not take, and OPTIONS, which the router would
  // otherwise answer itself.
  router.use(ignoreUndecodablePath, admit(admission), answerNoRoute(V1_ROUTES));
  return router;
}
