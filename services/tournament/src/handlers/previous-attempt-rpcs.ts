/**
 * The rpcs of attempts under the names of the release before, whose gateway calls them until it is replaced. AttemptService answers them.
 */
import { isRefused, type Refused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { Attempt, AttemptServiceService } from '@laurel/proto/attempts';
import type { TournamentServiceService } from '@laurel/proto/tournament';

type Previous = Handlers<Pick<TournamentServiceService, keyof AttemptServiceService>>;

export function previousAttemptRpcs(attempts: Handlers<AttemptServiceService>): Previous {
  return {
    ...attempts,
    getAttempt: async (request, context) => present(await attempts.getAttempt(request, context)),
    inspectAttempt: async (request, context) => present(await attempts.inspectAttempt(request, context)),
    voidAttempt: async (request, context) => present(await attempts.voidAttempt(request, context)),
    expireAttempt: async (request, context) => present(await attempts.expireAttempt(request, context)),
  };
}

function present(answer: { readonly attempt: Attempt | undefined } | Refused) {
  if (isRefused(answer)) return answer;
  const { attempt } = answer;
  return { attempt: attempt === undefined ? undefined : { ...attempt, roundId: attempt.contestId } };
}
