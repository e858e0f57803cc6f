/** VoidAttempt: an operator ends an open attempt, of any tenant, and its fee is returned. */

import { voidNow } from '@laurel/attempts';
import { checkVoidReason } from '@laurel/attempts/domain';
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { findAttempt } from '../repository/attempts.ts';
import { endWithRound, presentWithOutcome, type ReadDeps } from './read-attempt.ts';

export function voidAttempt(deps: ReadDeps): Handlers<TournamentServiceService>['voidAttempt'] {
  return async (request) => {
    const attemptId = parseId(request.attemptId);
    const { reason } = request;
    const unfit = checkVoidReason(reason);
    if (unfit !== null) return unfit;
    const found = await findAttempt(deps.database, attemptId);
    if (found === null) return refused('not_found');
    const current = await endWithRound(found, deps);
    if (current === null) return refused('not_found');
    const voided = await voidNow(current, found.round.tenant.environment, reason, deps);
    return isRefused(voided) ? voided : { attempt: await presentWithOutcome(voided, deps) };
  };
}
