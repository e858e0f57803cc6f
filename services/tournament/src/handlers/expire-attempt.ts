/** ExpireAttempt: ends an open sandbox attempt as if its deadline had passed. */

import { expireNow } from '@laurel/attempts';
import { isSameTenant } from '@laurel/attempts/domain';
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { findAttempt } from '../repository/attempts.ts';
import { endWithRound, presentWithOutcome, type ReadDeps } from './read-attempt.ts';

export function expireAttempt(deps: ReadDeps): Handlers<TournamentServiceService>['expireAttempt'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    if (tenant.environment !== 'test') throw new Error('only a sandbox attempt can be expired by hand');
    const found = await findAttempt(deps.database, parseId(request.attemptId));
    if (found === null || !isSameTenant(found.round.tenant, tenant)) return refused('not_found');
    const current = await endWithRound(found, deps);
    if (current === null) return refused('not_found');
    const expired = await expireNow(current, tenant.environment, deps);
    return isRefused(expired) ? expired : { attempt: await presentWithOutcome(expired, deps) };
  };
}
