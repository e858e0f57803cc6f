/** InspectAttempt: the current state of one attempt of any tenant, for operators. It changes nothing. */

import { type AttemptOpener, currentAttempt, currentAward, type Wallet } from '@laurel/attempts';
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { findAttempt } from '../repository/attempts.ts';
import { findAwardOfAttempt } from '../repository/awards.ts';
import { loadOutcome } from '../repository/outcomes.ts';
import { presentAttempt } from './present.ts';

type Deps = { database: Database; opener: AttemptOpener; wallet: Wallet };

export function inspectAttempt(deps: Deps): Handlers<ChallengeServiceService>['inspectAttempt'] {
  const { database, wallet } = deps;
  return async (request) => {
    const found = await findAttempt(database, parseId(request.attemptId));
    const attempt = found === null ? null : await currentAttempt(found.attempt, found.terms.tenant.environment, deps);
    if (attempt === null) return refused('not_found');
    if (attempt.status !== 'settled') return { attempt: presentAttempt(attempt, null, null) };
    const [outcome, owed] = await Promise.all([
      loadOutcome(database, attempt.id),
      findAwardOfAttempt(database, attempt.id),
    ]);
    const award = owed === null ? null : await currentAward(owed.award, wallet);
    return { attempt: presentAttempt(attempt, outcome, award) };
  };
}
