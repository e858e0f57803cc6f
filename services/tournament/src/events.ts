/**
 * The events of this service, each built from what its commit writes. An event id derives from the
 * kind of event and its row, so a step that runs again builds the same event, and the outbox stores
 * it once.
 */

import type { AwardTable, RefundEvents } from '@laurel/attempts';
import { eventIdOf } from '@laurel/events';
import { presentTenant } from '@laurel/grpc';
import { REFUND_REASONS } from '@laurel/proto/enum-names';
import { type Event, Owner } from '@laurel/proto/events';
import { purseWon } from './domain/purse.ts';
import type { Attempt, Outcome, Round, Tally, Tenant } from './domain/tournament.ts';
import { type ReleasedPurse, roundAwards } from './repository/payouts.ts';
import { loadRefundedAttempts } from './repository/refunds.ts';

/**
 * The outcome has no award: nothing is won before the round ends, and a board has no bar to clear.
 */
export function attemptSettled(facts: {
  readonly attempt: Pick<Attempt, 'id' | 'playerRef'>;
  readonly round: Pick<Round, 'id' | 'tenant'>;
  readonly outcome: Outcome;
}): Event {
  const { attempt, round, outcome } = facts;
  return {
    id: eventIdOf('attempt.settled', attempt.id),
    ...stamp(round.tenant, outcome.recordedAt),
    payload: {
      $case: 'attemptSettled',
      value: {
        attemptId: attempt.id,
        challengeId: '',
        tournamentRoundId: round.id,
        playerRef: attempt.playerRef,
        score: outcome.score,
        metThreshold: false,
        award: undefined,
        recordedAt: outcome.recordedAt,
      },
    },
  };
}

/**
 * One event for each returned fee, whatever the reason; also for a scored attempt of a cancelled
 * round.
 */
export const refundEvents: RefundEvents = async (on, refunds) => {
  const ids = refunds.map(({ attemptId }) => attemptId);
  const attempts = await loadRefundedAttempts(on, ids);
  return refunds.map(({ attemptId, reason, at }) => {
    const attempt = attempts.get(attemptId);
    if (attempt === undefined)
      throw new Error(`the fee of attempt ${attemptId} was returned, but the attempt was not found`);
    return {
      id: eventIdOf('attempt.refunded', attemptId),
      ...stamp(attempt.tenant, at),
      payload: {
        $case: 'attemptRefunded',
        value: {
          attemptId,
          challengeId: '',
          tournamentRoundId: attempt.roundId,
          playerRef: attempt.playerRef,
          amountCents: attempt.feeCents,
          reason: REFUND_REASONS[reason],
        },
      },
    };
  });
};

export function roundSettled(round: Round, { scoredPlayers }: Tally, settledAt: Date): Event {
  return {
    id: eventIdOf('round.settled', round.id),
    ...stamp(round.tenant, settledAt),
    payload: {
      $case: 'roundSettled',
      value: {
        tournamentRoundId: round.id,
        tournamentId: round.tournamentId,
        rankedPlayers: BigInt(scoredPlayers),
        purseCents: purseWon(round.terms.purse, scoredPlayers),
      },
    },
  };
}

export function roundCancelled(round: Pick<Round, 'id' | 'tournamentId' | 'tenant'>, cancelledAt: Date): Event {
  return {
    id: eventIdOf('round.cancelled', round.id),
    ...stamp(round.tenant, cancelledAt),
    payload: {
      $case: 'roundCancelled',
      value: { tournamentRoundId: round.id, tournamentId: round.tournamentId },
    },
  };
}

/** The table of purses, where the wallet's decisions are written with their events. */
export const AWARDS: AwardTable = {
  ...roundAwards,
  recordPayouts: async (on, payouts) => (await roundAwards.recordPayouts(on, payouts)).map(awardReleased),
};

/** A purse is won by an entry, not by a single attempt. */
function awardReleased({ awardId, roundId, playerRef, amountCents, paidAt, tenant }: ReleasedPurse): Event {
  return {
    id: eventIdOf('award.released', awardId),
    ...stamp(tenant, paidAt),
    payload: {
      $case: 'awardReleased',
      value: { awardId, attemptId: '', challengeId: '', tournamentRoundId: roundId, playerRef, amountCents },
    },
  };
}

function stamp(tenant: Tenant, occurredAt: Date): Pick<Event, 'occurredAt' | 'tenant' | 'owner'> {
  return {
    occurredAt,
    tenant: presentTenant(tenant),
    owner: Owner.TOURNAMENT,
  };
}
