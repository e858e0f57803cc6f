/** GetAttempt: the authoritative read. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import { isSameTenant } from '@laurel/values/tenant';
import { rollForward } from '../steps/roll-forward.ts';
import { endWithContest, presentWithOutcome, type ReadDeps } from './read-attempt.ts';

export function getAttempt(deps: ReadDeps): Handlers<AttemptServiceService>['getAttempt'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const found = await deps.contest.findAttempt(parseId(request.attemptId));
    // This call neither shows nor rolls forward another tenant's attempt.
    if (found === null || !isSameTenant(found.tenant, tenant)) return refused('not_found');
    const current = await endWithContest(found, deps);
    const attempt = current === null ? null : await rollForward(current, tenant.environment, deps);
    return attempt === null ? refused('not_found') : { attempt: await presentWithOutcome({ ...found, attempt }, deps) };
  };
}
