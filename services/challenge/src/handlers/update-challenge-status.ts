/** UpdateChallengeStatus: an operator reinstates, suspends or closes. Partners are notified of a suspension. */
import { isRefused, refused } from '@laurel/errors';
import type { Outbox } from '@laurel/events';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES, findName } from '@laurel/proto/enum-names';
import type { Clock } from '@laurel/service';
import { decideStatusChange } from '../domain/status-change.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { challengeSuspended } from '../events.ts';
import { findChallenge, lockChallenge, updateChallengeStatus as updateStatus } from '../repository/challenges.ts';
import { presentChallenge } from './present.ts';

export function updateChallengeStatus({
  database,
  outbox,
  ceilings,
  clock,
}: {
  database: Database;
  outbox: Outbox;
  ceilings: TierCeilings;
  clock: Clock;
}): Handlers<ChallengeServiceService>['updateChallengeStatus'] {
  return async (request) => {
    const id = parseId(request.challengeId);
    const wanted = findName(CHALLENGE_STATUSES, request.status);
    if (wanted === undefined || wanted === 'calibrating') {
      return refused('conflict', 'status can be set to live, suspended or closed.');
    }

    const changed = await database.transaction(async (tx) => {
      await lockChallenge(tx, id);
      const challenge = await findChallenge(tx, id);
      if (challenge === null) return refused('not_found');
      const change = decideStatusChange(challenge, wanted);
      if (isRefused(change)) return change;
      await updateStatus(tx, id, change.status);
      const isSuspended = change.status === 'suspended' && challenge.status !== 'suspended';
      const events = isSuspended ? [challengeSuspended(challenge, clock())] : [];
      await outbox.insert(tx, events);
      return { challenge: await findChallenge(tx, id), events };
    });
    if (isRefused(changed)) return changed;
    outbox.publish(changed.events);
    return changed.challenge === null
      ? refused('not_found')
      : { challenge: presentChallenge(changed.challenge, ceilings) };
  };
}
