/** InspectAttempt: the current state of one attempt of any tenant, for operators. It changes nothing, even where its round is over. */

import { type AttemptOpener, currentAttempt, type Wallet } from '@laurel/attempts';
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { findAttempt } from '../repository/attempts.ts';
import { presentWithOutcome } from './read-attempt.ts';

type Deps = { database: Database; opener: AttemptOpener; wallet: Wallet };

export function inspectAttempt(deps: Deps): Handlers<TournamentServiceService>['inspectAttempt'] {
  return async (request) => {
    const found = await findAttempt(deps.database, parseId(request.attemptId));
    const attempt = found === null ? null : await currentAttempt(found.attempt, found.round.tenant.environment, deps);
    return attempt === null ? refused('not_found') : { attempt: await presentWithOutcome(attempt, deps) };
  };
}
