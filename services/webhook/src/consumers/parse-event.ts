/**
 * Parses an event of the stream into the contract's terms. Throws on a value that its publisher
 * must never publish, which is a bug.
 */
import { parseId, parseTenant } from '@laurel/grpc';
import { EVENT_PAYOUT_STATUSES, nameOf, REFUND_REASONS } from '@laurel/proto/enum-names';
import type { Event } from '@laurel/proto/events';
import { type Cents, cents } from '@laurel/values/money';
import type { Tenant } from '@laurel/values/tenant';
import type { Fact } from '../domain/envelope.ts';

export type ParsedEvent = {
  readonly id: string;
  readonly occurredAt: Date;
  readonly tenant: Tenant;
  readonly fact: Fact;
};

export function parseEvent(event: Event): ParsedEvent {
  return {
    id: parseId(event.id),
    occurredAt: present(event.occurredAt, 'occurred_at'),
    tenant: parseTenant(event.tenant),
    fact: parseFact(present(event.payload, 'payload')),
  };
}

function parseFact(payload: NonNullable<Event['payload']>): Fact {
  switch (payload.$case) {
    case 'attemptSettled': {
      const { value } = payload;
      if (!Number.isFinite(value.score)) throw new Error('an event’s score is not finite');
      return {
        type: 'attempt.settled',
        ...parseAttempt(value),
        score: value.score,
        metThreshold: value.metThreshold,
        award:
          value.award === undefined
            ? null
            : {
                id: parseId(value.award.id),
                amountCents: parseCents(value.award.amountCents),
                payoutStatus: nameOf(EVENT_PAYOUT_STATUSES, value.award.payoutStatus),
              },
        recordedAt: present(value.recordedAt, 'recorded_at'),
      };
    }
    case 'attemptRefunded': {
      const { value } = payload;
      return {
        type: 'attempt.refunded',
        ...parseAttempt(value),
        amountCents: parseCents(value.amountCents),
        reason: nameOf(REFUND_REASONS, value.reason),
      };
    }
    case 'challengeSuspended':
      return {
        type: 'challenge.suspended',
        challengeId: parseId(payload.value.challengeId),
        name: payload.value.name,
      };
    case 'roundSettled':
      return {
        type: 'round.settled',
        tournamentRoundId: parseId(payload.value.tournamentRoundId),
        tournamentId: parseId(payload.value.tournamentId),
        rankedPlayers: Number(payload.value.rankedPlayers),
        purseCents: parseCents(payload.value.purseCents),
      };
    case 'roundCancelled':
      return {
        type: 'round.cancelled',
        tournamentRoundId: parseId(payload.value.tournamentRoundId),
        tournamentId: parseId(payload.value.tournamentId),
      };
    case 'awardReleased': {
      const { value } = payload;
      return {
        type: 'award.released',
        awardId: parseId(value.awardId),
        amountCents: parseCents(value.amountCents),
        attemptId: parseOptionalId(value.attemptId),
        challengeId: parseOptionalId(value.challengeId),
        tournamentRoundId: parseOptionalId(value.tournamentRoundId),
        playerRef: value.playerRef,
      };
    }
  }
}

function parseAttempt(value: {
  readonly attemptId: string;
  readonly challengeId: string;
  readonly tournamentRoundId: string;
  readonly playerRef: string;
}) {
  return {
    attemptId: parseId(value.attemptId),
    challengeId: parseOptionalId(value.challengeId),
    tournamentRoundId: parseOptionalId(value.tournamentRoundId),
    playerRef: value.playerRef,
  };
}

function parseOptionalId(id: string): string | null {
  return id === '' ? null : parseId(id);
}

function parseCents(amount: bigint): Cents {
  if (amount < 0n) throw new Error('an event’s amount is negative');
  return cents(amount);
}

function present<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw new Error(`an event lacks its ${field}, or it is unknown`);
  return value;
}
