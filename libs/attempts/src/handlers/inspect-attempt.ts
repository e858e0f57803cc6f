/**
 * InspectAttempt: the current state of one attempt of any tenant, for operators. It changes
 * nothing, even if the contest is over.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { Contest } from '../contest.ts';
import { currentAttempt, currentAward } from '../steps/current-state.ts';
import type { AttemptOpener } from '../steps/open-attempts.ts';
import type { Wallet } from '../wallet.ts';
import { presentAttempt } from './present.ts';

type Deps = { readonly contest: Contest; readonly opener: AttemptOpener; readonly wallet: Wallet };

export function inspectAttempt(deps: Deps): Handlers<AttemptServiceService>['inspectAttempt'] {
  const { contest, wallet } = deps;
  return async (request) => {
    const found = await contest.findAttempt(parseId(request.attemptId));
    const attempt = found === null ? null : await currentAttempt(found.attempt, found.tenant.environment, deps);
    if (found === null || attempt === null) return refused('not_found');
    if (attempt.status !== 'settled') return { attempt: presentAttempt({ ...found, attempt }, null) };
    const [outcome, owed] = await Promise.all([contest.loadOutcome(attempt.id), contest.findAwardOf(attempt.id)]);
    const award = owed === null ? null : await currentAward(owed.award, wallet);
    return { attempt: presentAttempt({ ...found, attempt }, { outcome, award }) };
  };
}
