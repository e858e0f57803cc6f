/** Helpers for the tests of events: they read an outbox from which no event is published. */

import { Event, Owner, type RefundReason } from '@laurel/proto/events';
import { deriveId } from '@laurel/values/ids';
import { FEE, type Harness, PROGRAM } from './tournament.fixture.ts';

type Outbox = Pick<Harness, 'database'>;

type Payload = NonNullable<Event['payload']>;

/** Every event in the outbox. */
export async function eventsIn({ database }: Outbox): Promise<readonly Event[]> {
  return inOrder((await database.query<OutboxRow>({ text: 'select event_id, payload from outbox' })).map(toEvent));
}

/**
 * Takes every event out of the outbox, as if a consumer had acknowledged them, so that an event
 * that is emitted again shows.
 */
export async function drainEvents({ database }: Outbox): Promise<readonly Event[]> {
  const taken = { text: 'delete from outbox returning event_id, payload' };
  return inOrder((await database.query<OutboxRow>(taken)).map(toEvent));
}

/** Takes every event out of the outbox, and returns those of this round. */
export async function drainOutboxForRound(outbox: Outbox, roundId: string): Promise<readonly Event[]> {
  return (await drainEvents(outbox)).filter((event) => isOfRound(event, roundId));
}

export function isOfRound({ payload }: Event, roundId: string): boolean {
  return payload !== undefined && 'tournamentRoundId' in payload.value && payload.value.tournamentRoundId === roundId;
}

export function inOrder(events: readonly Event[]): readonly Event[] {
  return events.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

type OutboxRow = { event_id: string; payload: Buffer };

function toEvent({ event_id: id, payload }: OutboxRow): Event {
  const event = Event.decode(payload);
  if (event.id !== id) throw new Error(`event ${event.id} is stored under ${id}`);
  return event;
}

/** The event in the contract's format; its id derives from its type and its source. */
function eventOf(type: string, sourceId: string, occurredAt: Date, payload: Payload): Event {
  return { id: deriveId(sourceId, `event:${type}`), occurredAt, tenant: PROGRAM, owner: Owner.TOURNAMENT, payload };
}

export function settled(
  roundId: string,
  attempt: { readonly id: string; readonly playerRef: string },
  score: number,
  recordedAt: Date,
): Event {
  const value = {
    attemptId: attempt.id,
    challengeId: '',
    tournamentRoundId: roundId,
    playerRef: attempt.playerRef,
    score,
    metThreshold: false,
    award: undefined,
    recordedAt,
  };
  return eventOf('attempt.settled', attempt.id, recordedAt, { $case: 'attemptSettled', value });
}

export function refunded(
  roundId: string,
  attempt: { readonly id: string; readonly playerRef: string },
  reason: RefundReason,
  at: Date,
): Event {
  const value = {
    attemptId: attempt.id,
    challengeId: '',
    tournamentRoundId: roundId,
    playerRef: attempt.playerRef,
    amountCents: FEE,
    reason,
  };
  return eventOf('attempt.refunded', attempt.id, at, { $case: 'attemptRefunded', value });
}

type EndedRound = { readonly id: string; readonly tournamentId: string };

export function roundSettled(
  { id, tournamentId }: EndedRound,
  rankedPlayers: bigint,
  purseCents: bigint,
  at: Date,
): Event {
  const value = { tournamentRoundId: id, tournamentId, rankedPlayers, purseCents };
  return eventOf('round.settled', id, at, { $case: 'roundSettled', value });
}

export function roundCancelled({ id, tournamentId }: EndedRound, at: Date): Event {
  const value = { tournamentRoundId: id, tournamentId };
  return eventOf('round.cancelled', id, at, { $case: 'roundCancelled', value });
}

export function released(
  roundId: string,
  purse: { readonly awardId: string; readonly playerRef: string; readonly amountCents: bigint },
  paidAt: Date,
): Event {
  const value = { ...purse, attemptId: '', challengeId: '', tournamentRoundId: roundId };
  return eventOf('award.released', purse.awardId, paidAt, { $case: 'awardReleased', value });
}
