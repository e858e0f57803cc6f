/** UpdateChallengeStatus: an operator reinstates, suspends or closes. */
import { isRefused, refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { type ChallengeServiceService, ChallengeStatus } from '@laurel/proto/challenge';
import { decideStatusChange } from '../domain/status-change.ts';
import { findChallenge, lockChallenge, updateChallengeStatus as updateStatus } from '../repository/challenges.ts';
import { presentChallenge } from './present.ts';

const WANTED = new Map<ChallengeStatus, 'live' | 'suspended' | 'closed'>([
  [ChallengeStatus.LIVE, 'live'],
  [ChallengeStatus.SUSPENDED, 'suspended'],
  [ChallengeStatus.CLOSED, 'closed'],
]);

export function updateChallengeStatus({
  database,
}: {
  database: Database;
}): Handlers<ChallengeServiceService>['updateChallengeStatus'] {
  return async (request) => {
    const id = parseId(request.challengeId);
    const wanted = WANTED.get(request.status);
    if (wanted === undefined) return refused('conflict', 'status can be set to live, suspended or closed.');

    const changed = await database.transaction(async (tx) => {
      await lockChallenge(tx, id);
      const challenge = await findChallenge(tx, id);
      if (challenge === null) return refused('not_found');
      const change = decideStatusChange(challenge, wanted);
      if (isRefused(change)) return change;
      await updateStatus(tx, id, change.status);
      return findChallenge(tx, id);
    });
    if (isRefused(changed)) return changed;
    return changed === null ? refused('not_found') : { challenge: presentChallenge(changed) };
  };
}
