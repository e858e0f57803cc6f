/** GetAttempt: the authoritative read. */

import { rollForward } from '@laurel/attempts';
import { isSameTenant } from '@laurel/attempts/domain';
import { refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { findAttempt } from '../repository/attempts.ts';
import { endWithRound, presentWithOutcome, type ReadDeps } from './read-attempt.ts';

export function getAttempt(deps: ReadDeps): Handlers<TournamentServiceService>['getAttempt'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const attemptId = parseId(request.attemptId);
    // Another tenant's attempt is not found, and this call does not roll it forward.
    const found = await findAttempt(deps.database, attemptId);
    if (found === null || !isSameTenant(found.round.tenant, tenant)) return refused('not_found');
    const current = await endWithRound(found, deps);
    const attempt = current === null ? null : await rollForward(current, tenant.environment, deps);
    return attempt === null ? refused('not_found') : { attempt: await presentWithOutcome(attempt, deps) };
  };
}
