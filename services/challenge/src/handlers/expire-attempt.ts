/** ExpireAttempt: ends an open sandbox attempt as if its deadline had passed. */

import { expireNow } from '@laurel/attempts';
import { isSameTenant } from '@laurel/attempts/domain';
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { findAttempt } from '../repository/attempts.ts';
import { presentWithOutcome, type ReadDeps } from './read-attempt.ts';

export function expireAttempt(deps: ReadDeps): Handlers<ChallengeServiceService>['expireAttempt'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    if (tenant.environment !== 'test') throw new Error('only a sandbox attempt can be expired by hand');
    const found = await findAttempt(deps.database, parseId(request.attemptId));
    if (found === null || !isSameTenant(found.terms.tenant, tenant)) return refused('not_found');
    const expired = await expireNow(found.attempt, tenant.environment, deps);
    return isRefused(expired) ? expired : { attempt: await presentWithOutcome(expired, deps) };
  };
}
