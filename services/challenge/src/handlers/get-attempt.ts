/** GetAttempt: the authoritative read. */

import { rollForward } from '@laurel/attempts';
import { isSameTenant } from '@laurel/attempts/domain';
import { refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { findAttempt } from '../repository/attempts.ts';
import { presentWithOutcome, type ReadDeps } from './read-attempt.ts';

export function getAttempt(deps: ReadDeps): Handlers<ChallengeServiceService>['getAttempt'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const attemptId = parseId(request.attemptId);
    // Another tenant's attempt is not found, and this call does not roll it forward.
    const found = await findAttempt(deps.database, attemptId);
    if (found === null || !isSameTenant(found.terms.tenant, tenant)) return refused('not_found');
    const attempt = await rollForward(found.attempt, tenant.environment, deps);
    return attempt === null ? refused('not_found') : { attempt: await presentWithOutcome(attempt, deps) };
  };
}
