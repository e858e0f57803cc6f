/** ExpireAttempt: ends an open sandbox attempt as if its deadline had passed. */
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import { isSameTenant } from '@laurel/values/tenant';
import { expireNow } from '../steps/end-attempt.ts';
import { endWithContest, presentWithOutcome, type ReadDeps } from './read-attempt.ts';

export function expireAttempt(deps: ReadDeps): Handlers<AttemptServiceService>['expireAttempt'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    if (tenant.environment !== 'test') throw new Error('only a sandbox attempt can be expired by hand');
    const found = await deps.contest.findAttempt(parseId(request.attemptId));
    if (found === null || !isSameTenant(found.tenant, tenant)) return refused('not_found');
    const current = await endWithContest(found, deps);
    if (current === null) return refused('not_found');
    const attempt = await expireNow(current, tenant.environment, deps);
    return isRefused(attempt) ? attempt : { attempt: await presentWithOutcome({ ...found, attempt }, deps) };
  };
}
