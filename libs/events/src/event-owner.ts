/**
 * The owner of an event: the contest service that may publish it. For attempts, awards and purses
 * it is the service in the tag of their ids; for challenges the challenge service; for rounds the
 * tournament service. An event that names one service as its owner, and concerns an attempt, award
 * or round of the other, has no owner.
 */

import { type Event, Owner } from '@laurel/proto/events';
import { type ContestServiceName, contestServiceOf } from '@laurel/values/ids';

const NAME_OF_OWNER: Partial<Record<Owner, ContestServiceName>> = {
  [Owner.CHALLENGE]: 'challenge',
  [Owner.TOURNAMENT]: 'tournament',
};

/** Returns the owner's name; undefined for an owner that this release does not know. */
export function nameOfOwner(owner: Owner): ContestServiceName | undefined {
  return NAME_OF_OWNER[owner];
}

/** Undefined if the event does not belong to the owner that it names, or has no payload. */
export function ownerOfEvent({ owner, payload }: Event): ContestServiceName | undefined {
  const name = nameOfOwner(owner);
  return payload !== undefined && name !== undefined && isOf(name, payload) ? name : undefined;
}

function isOf(owner: ContestServiceName, payload: NonNullable<Event['payload']>): boolean {
  switch (payload.$case) {
    case 'attemptSettled': {
      const { attemptId, award } = payload.value;
      return (
        contestServiceOf(attemptId) === owner &&
        isParentOf(owner, payload.value) &&
        (!award || contestServiceOf(award.id) === owner)
      );
    }
    case 'attemptRefunded':
      return contestServiceOf(payload.value.attemptId) === owner && isParentOf(owner, payload.value);
    case 'awardReleased': {
      const { awardId, attemptId } = payload.value;
      const isOfAttempt = attemptId === '' || contestServiceOf(attemptId) === owner;
      return contestServiceOf(awardId) === owner && isOfAttempt && isParentOf(owner, payload.value);
    }
    case 'challengeSuspended':
      return owner === 'challenge';
    case 'roundSettled':
    case 'roundCancelled':
      return owner === 'tournament';
  }
}

/** The challenge service's attempts belong to challenges, the tournament service's to rounds. */
function isParentOf(owner: ContestServiceName, parent: { challengeId: string; tournamentRoundId: string }): boolean {
  return owner === 'challenge' ? parent.tournamentRoundId === '' : parent.challengeId === '';
}
