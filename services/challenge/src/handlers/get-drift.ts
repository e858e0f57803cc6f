/** GetDrift: the drift monitor of a challenge and the history of its status, for operators. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import type { Clock } from '@laurel/service';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { findChallenge } from '../repository/challenges.ts';
import { readDrift } from './read-drift.ts';

type Deps = { readonly database: Database; readonly ceilings: TierCeilings; readonly clock: Clock };

export function getDrift({ database, ...deps }: Deps): Handlers<ChallengeServiceService>['getDrift'] {
  return async (request) => {
    const id = parseId(request.challengeId);
    return await database.transaction(
      async (tx) => {
        const challenge = await findChallenge(tx, id);
        return challenge === null ? refused('not_found') : await readDrift(tx, challenge, deps);
      },
      { isSnapshot: true },
    );
  };
}
