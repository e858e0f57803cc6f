/**
 * The events of this service, one for each fact of which partners are notified. The event's id
 * derives from the fact, so an event that is emitted again has the same id.
 */

import type { AwardTable, RefundEvents } from '@laurel/attempts';
import type { Tenant } from '@laurel/attempts/domain';
import { eventIdOf } from '@laurel/events';
import { presentTenant } from '@laurel/grpc';
import { EVENT_PAYOUT_STATUSES, REFUND_REASONS } from '@laurel/proto/enum-names';
import { type Award as AwardMessage, type Event, Owner } from '@laurel/proto/events';
import { newId } from '@laurel/values/ids';
import type { Attempt, Challenge, Outcome } from './domain/challenge.ts';
import { loadAttemptsWithTerms } from './repository/attempts.ts';
import {
  type ChangedAward,
  changeAwardStatus,
  findAward,
  loadUnfinishedAwards,
  recordPayouts,
  recordWithEvents,
} from './repository/awards.ts';

/**
 * The event of a recorded outcome. If the outcome won an award, the wallet has decided the award.
 */
export function attemptSettled(settled: {
  readonly tenant: Tenant;
  readonly attempt: Pick<Attempt, 'id' | 'challengeId' | 'playerRef'>;
  readonly outcome: Pick<Outcome, 'score' | 'metThreshold' | 'recordedAt'>;
  readonly award: AwardMessage | null;
}): Event {
  const { tenant, attempt, outcome, award } = settled;
  return {
    id: eventIdOf('attempt.settled', attempt.id),
    occurredAt: outcome.recordedAt,
    ...from(tenant),
    payload: {
      $case: 'attemptSettled',
      value: {
        attemptId: attempt.id,
        challengeId: attempt.challengeId,
        tournamentRoundId: '',
        playerRef: attempt.playerRef,
        score: outcome.score,
        metThreshold: outcome.metThreshold,
        award: award ?? undefined,
        recordedAt: outcome.recordedAt,
      },
    },
  };
}

/** Returns the events of fees that were refunded to their players. */
export const refundEvents: RefundEvents = async (on, refunds) => {
  const ids = refunds.map(({ attemptId }) => attemptId);
  const attempts = await loadAttemptsWithTerms(on, ids);
  return refunds.map(({ attemptId, reason, at }) => {
    const refunded = attempts.get(attemptId);
    if (refunded === undefined) throw new Error(`the refunded attempt ${attemptId} is not there`);
    const { attempt, terms } = refunded;
    return {
      id: eventIdOf('attempt.refunded', attemptId),
      occurredAt: at,
      ...from(terms.tenant),
      payload: {
        $case: 'attemptRefunded',
        value: {
          attemptId,
          challengeId: attempt.challengeId,
          tournamentRoundId: '',
          playerRef: attempt.playerRef,
          amountCents: attempt.feeCents,
          reason: REFUND_REASONS[reason],
        },
      },
    };
  });
};

/**
 * The table of awards, in which libs/attempts records the wallet's decisions together with their
 * events.
 */
export const AWARDS: AwardTable = {
  loadUnfinishedAwards,
  recordPayouts: async (on, payouts) => eventsOfAwards(await recordPayouts(on, payouts)),
  recordWithEvents,
  findAward,
  changeAwardStatus,
};

/**
 * Returns the events of awards whose status changed. The wallet's first decision, paid or held,
 * emits the event of the outcome that won the award. A held award that becomes paid was released. A
 * denied award emits no event.
 */
function eventsOfAwards(awards: readonly ChangedAward[]): readonly Event[] {
  return awards.flatMap((changed) => {
    if (changed.previousStatus === 'paying' || changed.previousStatus === 'holding') return [settledWithAward(changed)];
    return changed.award.status === 'paid' ? [awardReleased(changed)] : [];
  });
}

/**
 * The event of an outcome that won an award. The award has the wallet's first decision: paid or
 * held.
 */
export function settledWithAward({ award, tenant, playerRef, outcome }: Omit<ChangedAward, 'previousStatus'>): Event {
  return attemptSettled({
    tenant,
    attempt: { id: award.attemptId, challengeId: award.challengeId, playerRef },
    outcome,
    award: {
      id: award.id,
      amountCents: award.amountCents,
      payoutStatus: award.status === 'paid' ? EVENT_PAYOUT_STATUSES.paid : EVENT_PAYOUT_STATUSES.held,
    },
  });
}

function awardReleased({ award, tenant, playerRef }: ChangedAward): Event {
  return {
    id: eventIdOf('award.released', award.id),
    occurredAt: award.paidAt ?? undefined,
    ...from(tenant),
    payload: {
      $case: 'awardReleased',
      value: {
        awardId: award.id,
        attemptId: award.attemptId,
        challengeId: award.challengeId,
        tournamentRoundId: '',
        playerRef,
        amountCents: award.amountCents,
      },
    },
  };
}

/**
 * The event of a suspension. A challenge may be reinstated and suspended again, so each suspension
 * has its own event id.
 */
export function challengeSuspended(
  { id, tenant, terms }: Pick<Challenge, 'id' | 'tenant'> & { readonly terms: Pick<Challenge['terms'], 'name'> },
  now: Date,
): Event {
  return {
    id: eventIdOf('challenge.suspended', newId(now)),
    occurredAt: now,
    ...from(tenant),
    payload: { $case: 'challengeSuspended', value: { challengeId: id, name: terms.name } },
  };
}

function from(tenant: Tenant): Pick<Event, 'tenant' | 'owner'> {
  return {
    tenant: presentTenant(tenant),
    owner: Owner.CHALLENGE,
  };
}
