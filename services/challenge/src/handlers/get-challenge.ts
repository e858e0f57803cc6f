/**
 * GetChallenge: one challenge and the last change of its status, for operators. Both are read from
 * one snapshot, so the change is the one that led to the shown status.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { findChallenge } from '../repository/challenges.ts';
import { findLastStatusChange } from '../repository/status-changes.ts';
import { presentChallenge } from './present.ts';
import { presentStatusChange } from './read-drift.ts';

export function getChallenge({
  database,
  ceilings,
}: {
  database: Database;
  ceilings: TierCeilings;
}): Handlers<ChallengeServiceService>['getChallenge'] {
  return async (request) => {
    const id = parseId(request.challengeId);
    return await database.transaction(
      async (tx) => {
        const [challenge, change] = await Promise.all([findChallenge(tx, id), findLastStatusChange(tx, id)]);
        if (challenge === null) return refused('not_found');
        return {
          challenge: presentChallenge(challenge, ceilings),
          statusChange: change === null ? undefined : presentStatusChange(change),
        };
      },
      { isSnapshot: true },
    );
  };
}
