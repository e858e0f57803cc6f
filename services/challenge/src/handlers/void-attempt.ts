/** VoidAttempt: an operator ends an open attempt, of any tenant, and its fee goes back. */
import { isRefused, refused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { findAttempt } from '../repository/attempts.ts';
import { parseId } from './parse.ts';
import { type ReadDeps, rereadAttempt, rollForward } from './read-attempt.ts';

const MAX_REASON_LENGTH = 1_000;

export function voidAttempt(deps: ReadDeps): Handlers<ChallengeServiceService>['voidAttempt'] {
  return async (request) => {
    const attemptId = parseId(request.attemptId);
    const { reason } = request;
    if (reason === '' || reason.length > MAX_REASON_LENGTH || reason.includes('\0')) {
      return refused('invalid_request', `reason must have 1 to ${MAX_REASON_LENGTH} characters.`);
    }
    const found = await findAttempt(deps.database, attemptId);
    const before = found === null ? null : await rollForward(found.attempt, deps);
    if (found === null || before === null) return refused('not_found');
    // A void whose refund was interrupted is finished, not refused.
    const isUnderWay = found.attempt.status === 'voiding';
    if (!isUnderWay && !(await deps.expirer.voidAttempt(attemptId, reason, deps.clock()))) {
      return refused('conflict', 'The attempt is not open.');
    }
    const attempt = await rereadAttempt(attemptId, deps);
    return isRefused(attempt) ? attempt : { attempt };
  };
}
