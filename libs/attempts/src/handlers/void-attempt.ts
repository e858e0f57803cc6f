/** VoidAttempt: ends an open attempt of any tenant for an operator, and refunds its fee. */
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import { checkVoidReason } from '../domain/void-reason.ts';
import { voidNow } from '../steps/end-attempt.ts';
import { endWithContest, presentWithOutcome, type ReadDeps } from './read-attempt.ts';

export function voidAttempt(deps: ReadDeps): Handlers<AttemptServiceService>['voidAttempt'] {
  return async (request) => {
    const attemptId = parseId(request.attemptId);
    const { reason } = request;
    const unfit = checkVoidReason(reason);
    if (unfit !== null) return unfit;
    const found = await deps.contest.findAttempt(attemptId);
    const current = found === null ? null : await endWithContest(found, deps);
    if (found === null || current === null) return refused('not_found');
    const attempt = await voidNow(current, found.tenant.environment, reason, deps);
    return isRefused(attempt) ? attempt : { attempt: await presentWithOutcome({ ...found, attempt }, deps) };
  };
}
