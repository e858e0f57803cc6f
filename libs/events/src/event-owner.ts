/**
 * The owner of an event. For attempts, awards and purses it is the service in the tag of their ids;
 * for challenges the challenge service; for rounds the tournament service. An event that names one
 * owner and concerns another's attempt, award or round has none.
 */

import { type Event, Owner } from '@laurel/proto/events';
import { type AttemptOwner, ownerOf } from '@laurel/values/ids';

const NAME_OF_OWNER: Partial<Record<Owner, AttemptOwner>> = {
  [Owner.CHALLENGE]: 'challenge',
  [Owner.TOURNAMENT]: 'tournament',
};

/** Undefined for an owner that this release does not know. */
export function nameOfOwner(owner: Owner): AttemptOwner | undefined {
  return NAME_OF_OWNER[owner];
}

/** Undefined if the event does not belong to the owner that it names, or has no payload. */
export function ownerOfEvent({ owner, payload }: Event): AttemptOwner | undefined {
  const name = nameOfOwner(owner);
  return payload !== undefined && name !== undefined && isOf(name, payload) ? name : undefined;
}

function isOf(owner: AttemptOwner, payload: NonNullable<Event['payload']>): boolean {
  switch (payload.$case) {
    case 'attemptSettled': {
      const { attemptId, award } = payload.value;
      return (
        ownerOf(attemptId) === owner && isParentOf(owner, payload.value) && (!award || ownerOf(award.id) === owner)
      );
    }
    case 'attemptRefunded':
      return ownerOf(payload.value.attemptId) === owner && isParentOf(owner, payload.value);
    case 'awardReleased': {
      const { awardId, attemptId } = payload.value;
      const isOfAttempt = attemptId === '' || ownerOf(attemptId) === owner;
      return ownerOf(awardId) === owner && isOfAttempt && isParentOf(owner, payload.value);
    }
    case 'challengeSuspended':
      return owner === 'challenge';
    case 'roundSettled':
    case 'roundCancelled':
      return owner === 'tournament';
  }
}

/** The challenge service's attempts belong to challenges, the tournament service's to rounds. */
function isParentOf(owner: AttemptOwner, parent: { challengeId: string; tournamentRoundId: string }): boolean {
  return owner === 'challenge' ? parent.tournamentRoundId === '' : parent.challengeId === '';
}
