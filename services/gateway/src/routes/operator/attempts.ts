import { isRefused } from '@laurel/errors';
import type { Router } from 'express';
import { z } from 'zod';
import { type Dependencies, serviceOf } from '../../dependencies.ts';
import { presentAttempt } from '../../presenters/attempt.ts';
import { callOptions, mutation, notFound, parseBody, pathId, present } from '../api-route.ts';
import { text } from '../fields.ts';

const voidAttempt = z.object({ reason: text(1_000) });

export function attemptRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/attempts/:attemptId/void',
    mutation(deps, 'void_attempt', async (request) => {
      const attemptId = pathId(request, 'attemptId');
      const body = parseBody(request, voidAttempt);
      if (isRefused(body)) return body;
      const service = attemptId === null ? null : serviceOf(deps, attemptId);
      if (attemptId === null || service === null) return notFound();
      const voided = await service.voidAttempt({ attemptId, reason: body.reason }, callOptions(request));
      return isRefused(voided) ? voided : { status: 200, json: presentAttempt(present(voided.attempt)) };
    }),
  );
}
