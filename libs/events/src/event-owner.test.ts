import { type Event, Owner, PayoutStatus, RefundReason } from '@laurel/proto/events';
import { type ContestServiceName, newId, newOwnedId } from '@laurel/values/ids';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownerOfEvent } from './event-owner.ts';
import { newEvent } from './events.fixture.ts';

type Payload = NonNullable<Event['payload']>;

const CONTEST_SERVICES = ['challenge', 'tournament'] as const;
const OWNER: Record<ContestServiceName, Owner> = { challenge: Owner.CHALLENGE, tournament: Owner.TOURNAMENT };

/** Every event that a service publishes about its own attempt and award. */
function payloadsOf(owner: ContestServiceName): readonly Payload[] {
  const attempt = {
    attemptId: newOwnedId(owner),
    challengeId: owner === 'challenge' ? newId() : '',
    tournamentRoundId: owner === 'tournament' ? newId() : '',
    playerRef: 'p',
  };
  const settled = { ...attempt, score: 1, metThreshold: true, recordedAt: new Date() };
  const award = { id: newOwnedId(owner), amountCents: 1n, payoutStatus: PayoutStatus.PAID };
  const released = { ...attempt, awardId: newOwnedId(owner), amountCents: 1n };
  const round = { tournamentRoundId: newId(), tournamentId: newId() };
  return [
    { $case: 'attemptSettled', value: { ...settled, award: undefined } },
    { $case: 'attemptSettled', value: { ...settled, award } },
    { $case: 'attemptRefunded', value: { ...attempt, amountCents: 1n, reason: RefundReason.EXPIRED } },
    { $case: 'awardReleased', value: released },
    { $case: 'awardReleased', value: { ...released, attemptId: '' } },
    ...(owner === 'challenge'
      ? ([{ $case: 'challengeSuspended', value: { challengeId: newId(), name: 'x' } }] as const)
      : ([
          { $case: 'roundSettled', value: { ...round, rankedPlayers: 1n, purseCents: 1n } },
          { $case: 'roundCancelled', value: round },
        ] as const)),
  ];
}

const owned = fc
  .constantFrom(...CONTEST_SERVICES)
  .chain((owner) => fc.constantFrom(...payloadsOf(owner)).map((payload) => ({ owner, payload })));

test('an event belongs to the contest service that it names only if that service owns its ids', () => {
  fc.assert(
    fc.property(owned, fc.constantFrom(...CONTEST_SERVICES), ({ owner, payload }, named) => {
      const event = newEvent({ owner: OWNER[named], payload });
      expect(ownerOfEvent(event)).toBe(named === owner ? owner : undefined);
    }),
  );
});

test('an event that names attempts of two contest services belongs to no service', () => {
  const [other] = payloadsOf('tournament').slice(1);
  for (const payload of payloadsOf('challenge')) {
    if (payload.$case !== 'attemptSettled' || other?.$case !== 'attemptSettled') continue;
    const { attemptId, tournamentRoundId, award } = other.value;
    for (const change of [{ attemptId }, { tournamentRoundId }, { award }]) {
      const mixed = { ...payload, value: { ...payload.value, ...change } };
      expect(ownerOfEvent(newEvent({ payload: mixed }))).toBeUndefined();
    }
  }
});

test('an event that names no contest service belongs to no service', () => {
  expect(ownerOfEvent(newEvent({ owner: Owner.UNSPECIFIED }))).toBeUndefined();
  expect(ownerOfEvent(newEvent({ payload: undefined }))).toBeUndefined();
});
