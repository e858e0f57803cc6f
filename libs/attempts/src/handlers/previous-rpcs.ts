/**
 * The rpcs of AttemptService under the names that the release before has for them in each owner's own service. Its gateway calls them
 * until it is replaced.
 */
import { isRefused, type Refused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import type { Attempt, AttemptServiceService } from '@laurel/proto/attempts';

/** `contest` is what an attempt's own service calls its contest. */
export function previousRpcs<Contest extends 'challengeId' | 'roundId'>(
  attempts: Handlers<AttemptServiceService>,
  contest: Contest,
) {
  const present = (answer: { readonly attempt: Attempt | undefined } | Refused) => {
    if (isRefused(answer)) return answer;
    const { attempt } = answer;
    if (attempt === undefined) return { attempt };
    return { attempt: { ...attempt, [contest]: attempt.contestId } as Attempt & Record<Contest, string> };
  };
  type Rpcs = Handlers<AttemptServiceService>;
  return {
    ...attempts,
    getAttempt: async (...call: Parameters<Rpcs['getAttempt']>) => present(await attempts.getAttempt(...call)),
    inspectAttempt: async (...call: Parameters<Rpcs['inspectAttempt']>) =>
      present(await attempts.inspectAttempt(...call)),
    voidAttempt: async (...call: Parameters<Rpcs['voidAttempt']>) => present(await attempts.voidAttempt(...call)),
    expireAttempt: async (...call: Parameters<Rpcs['expireAttempt']>) => present(await attempts.expireAttempt(...call)),
  };
}
