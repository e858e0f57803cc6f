/**
 * InspectAttempt: the current state of one attempt of any tenant, for operators. It changes
 * nothing: it does not end the attempt even if the contest is over.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId, presentTenant } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { Contest } from '../contest.ts';
import { currentState } from '../steps/current-state.ts';
import type { AttemptOpener } from '../steps/open-attempts.ts';
import type { Wallet } from '../wallet.ts';
import { presentAttempt } from './present.ts';

export type InspectDeps = { readonly contest: Contest; readonly opener: AttemptOpener; readonly wallet: Wallet };

export function inspectAttempt(deps: InspectDeps): Handlers<AttemptServiceService>['inspectAttempt'] {
  return async (request) => {
    const found = await deps.contest.findAttempt(parseId(request.attemptId));
    const current = found === null ? null : await currentState(found, deps);
    if (found === null || current === null) return refused('not_found');
    return {
      attempt: presentAttempt({ ...found, attempt: current.attempt }, current.result),
      tenant: presentTenant(found.tenant),
      accountId: current.attempt.accountId ?? undefined,
    };
  };
}
