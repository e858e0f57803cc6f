import { isRefused } from '@laurel/errors';
import type { Router } from 'express';
import { type Dependencies, serviceOf } from '../../dependencies.ts';
import { presentAttempt } from '../../presenters/attempt.ts';
import { callOptions, notFound, pathId, present, route, tenantOf } from '../api-route.ts';

export function sandboxAttemptRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/attempts/:attemptId/expire',
    route(async (request) => {
      const attemptId = pathId(request, 'attemptId');
      const service = attemptId === null ? null : serviceOf(deps, attemptId);
      if (attemptId === null || service === null) return notFound();
      const expired = await service.expireAttempt({ tenant: tenantOf(request), attemptId }, callOptions(request));
      return isRefused(expired) ? expired : { status: 200, json: presentAttempt(present(expired.attempt)) };
    }),
  );
}
