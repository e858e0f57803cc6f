import { isRefused } from '@laurel/errors';
import type { Router } from 'express';
import type { Dependencies } from '../../dependencies.ts';
import { presentRound } from '../../presenters/tournament.ts';
import { callOptions, notFound, pathId, present, route, tenantOf } from '../api-route.ts';

/** Closing a round also pays it, and answers when that is done. */
const CLOSE_DEADLINE_MS = 60_000;

export function sandboxRoundRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/rounds/:roundId/close-entries',
    route(async (request) => {
      const roundId = pathId(request, 'roundId');
      if (roundId === null) return notFound();
      const closed = await deps.tournament.closeEntries({ tenant: tenantOf(request), roundId }, callOptions(request));
      return isRefused(closed) ? closed : { status: 200, body: presentRound(present(closed.round)) };
    }),
  );

  router.post(
    '/rounds/:roundId/close',
    route(async (request) => {
      const roundId = pathId(request, 'roundId');
      if (roundId === null) return notFound();
      const options = { ...callOptions(request), deadlineMs: CLOSE_DEADLINE_MS };
      const closed = await deps.tournament.closeRound({ tenant: tenantOf(request), roundId }, options);
      return isRefused(closed) ? closed : { status: 200, body: presentRound(present(closed.round)) };
    }),
  );
}
