/** GetChallenge: one challenge, for its operator. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { findChallenge } from '../repository/challenges.ts';
import { presentChallenge } from './present.ts';

export function getChallenge({
  database,
  ceilings,
}: {
  database: Database;
  ceilings: TierCeilings;
}): Handlers<ChallengeServiceService>['getChallenge'] {
  return async (request) => {
    const challenge = await findChallenge(database, parseId(request.challengeId));
    return challenge === null ? refused('not_found') : { challenge: presentChallenge(challenge, ceilings) };
  };
}
