/** Maps domain values to messages. */
import { shownStatus } from '@laurel/attempts/domain';
import { presentTenant } from '@laurel/grpc';
import {
  type Attempt as AttemptMessage,
  AttemptStatus,
  type Award as AwardMessage,
  type Challenge as ChallengeMessage,
  type Outcome as OutcomeMessage,
} from '@laurel/proto/challenge';
import {
  ATTEMPT_STATUSES,
  AWARD_STATUSES,
  CALIBRATION_SOURCES,
  CHALLENGE_STATUSES,
  PRIZE_STRUCTURES,
  THRESHOLD_DIRECTIONS,
} from '@laurel/proto/enum-names';
import { barOf, calibrationProgressOf, statusOf } from '../domain/bar.ts';
import type * as domain from '../domain/challenge.ts';
import { feeOnOffer, prizeOnOffer } from '../domain/prize-offer.ts';
import { type Ramp, rampOf } from '../domain/ramp.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';

/** The attempt as it was created: open and without an outcome, whatever its state is by now. */
export function presentCreatedAttempt(attempt: domain.Attempt): AttemptMessage {
  return present(attempt, AttemptStatus.OPEN, undefined);
}

/** Throws on an attempt that is never shown. */
export function presentAttempt(
  attempt: domain.Attempt,
  outcome: domain.Outcome | null,
  award: domain.Award | null,
): AttemptMessage {
  const status = shownStatus(attempt.status);
  if (status === null) throw new Error(`attempt ${attempt.id} is ${attempt.status} and must not be shown`);
  return present(attempt, ATTEMPT_STATUSES[status], outcome === null ? undefined : presentOutcome(outcome, award));
}

function present(attempt: domain.Attempt, status: AttemptStatus, outcome: OutcomeMessage | undefined): AttemptMessage {
  return {
    id: attempt.id,
    challengeId: attempt.challengeId,
    playerRef: attempt.playerRef,
    status,
    feeCents: attempt.feeCents,
    createdAt: attempt.createdAt,
    metadataJson: attempt.metadata,
    outcome,
  };
}

export function presentOutcome(outcome: domain.Outcome, award: domain.Award | null): OutcomeMessage {
  return {
    attemptId: outcome.attemptId,
    score: outcome.score,
    metThreshold: outcome.metThreshold,
    thresholdApplied: outcome.thresholdApplied ?? undefined,
    recordedAt: outcome.recordedAt,
    receiptId: outcome.receiptId,
    award: award === null ? undefined : presentAward(award),
  };
}

/** A denied award stays withheld; one that is being released or denied is withheld until that has finished. */
function presentAward(award: domain.Award): AwardMessage {
  if (award.status === 'paying' || award.status === 'holding')
    throw new Error(`award ${award.id} is being paid and must not be shown`);
  return {
    id: award.id,
    amountCents: award.amountCents,
    paidAt: award.paidAt ?? undefined,
    status: award.status === 'paid' ? AWARD_STATUSES.paid : AWARD_STATUSES.held,
  };
}

export function presentChallenge(challenge: domain.Challenge, ceilings: TierCeilings): ChallengeMessage {
  const { terms, tenant } = challenge;
  return {
    id: challenge.id,
    tenant: presentTenant(tenant),
    terms: {
      name: terms.name,
      description: terms.description ?? undefined,
      feeCents: terms.feeCents,
      prizeCents: terms.prizeCents,
      prizeStructure: PRIZE_STRUCTURES[terms.prizeStructure],
      topN: terms.topN ?? undefined,
      metricName: terms.metricName,
      metricUnit: terms.metricUnit,
      thresholdDirection: THRESHOLD_DIRECTIONS[terms.direction],
      scoreMin: terms.scoreMin ?? undefined,
      scoreMax: terms.scoreMax ?? undefined,
      targetPassRate: terms.targetPassRate,
      integrityTier: terms.integrityTier,
      minCalibrationN: terms.minCalibrationN,
      minCalibrationPlayers: terms.minCalibrationPlayers,
      dailyAttemptCap: terms.dailyAttemptCap,
      requiredVerificationLevel: terms.requiredVerificationLevel,
      jurisdictions: [...terms.jurisdictions],
      parentChallengeId: terms.parentChallengeId ?? '',
    },
    status: CHALLENGE_STATUSES[statusOf(challenge)],
    threshold: barOf(challenge) ?? undefined,
    calibrationSource: CALIBRATION_SOURCES[challenge.calibrationSource],
    rung: challenge.rung,
    createdAt: challenge.createdAt,
    offeredFeeCents: feeOnOffer(challenge),
    offeredPrizeCents: prizeOnOffer(challenge, ceilings),
    calibration: calibrationProgressOf(challenge) ?? undefined,
    ramp: presentRamp(rampOf(challenge, ceilings)),
  };
}

/** No more attempts are shown than complete the ramp: its worker lifts the cap soon after them. */
function presentRamp(ramp: Ramp | null): ChallengeMessage['ramp'] {
  if (ramp === null) return undefined;
  const { fullPrizeCents, attemptsSeen, attemptsRequired } = ramp;
  return {
    fullPrizeCents,
    attemptsSeen: BigInt(Math.min(attemptsSeen, attemptsRequired)),
    attemptsRequired: BigInt(attemptsRequired),
  };
}
