/** ExpireAttempt: ends an open sandbox attempt as if its hour had passed. */
import { isRefused, refused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { isSameTenant } from '../domain/challenge.ts';
import { findAttempt } from '../repository/attempts.ts';
import { parseId, parseTenant } from './parse.ts';
import { type ReadDeps, rereadAttempt, rollForward } from './read-attempt.ts';

export function expireAttempt(deps: ReadDeps): Handlers<ChallengeServiceService>['expireAttempt'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    if (tenant.environment !== 'test') throw new Error('only a sandbox attempt can be expired by hand');
    const attemptId = parseId(request.attemptId);
    const found = await findAttempt(deps.database, attemptId);
    if (found === null || !isSameTenant(found.terms.tenant, tenant)) return refused('not_found');

    // A repeat finds the attempt already ended by this way, and its refund finished: only then does it come too late.
    const isUnderWay = found.attempt.status === 'expiring';
    const before = await rollForward(found.attempt, deps);
    if (before === null) return refused('not_found');
    if (!isUnderWay) {
      if (before.status !== 'open') return refused('attempt_already_settled');
      await deps.expirer.expire(attemptId, deps.clock(), { evenIfYoung: true });
    }
    const attempt = await rereadAttempt(attemptId, deps);
    if (isRefused(attempt)) return attempt;
    // An outcome that came in between has won.
    return attempt.outcome === undefined ? { attempt } : refused('attempt_already_settled');
  };
}
