/** From the words of the domain to messages. */
import { type ShownStatus, shownStatus } from '@laurel/attempt';
import {
  type Attempt as AttemptMessage,
  AttemptStatus,
  type Award as AwardMessage,
  AwardStatus,
  CalibrationSource,
  type Challenge as ChallengeMessage,
  ChallengeStatus,
  type Outcome as OutcomeMessage,
  PrizeStructure,
  ThresholdDirection,
} from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';
import { barOf, calibrationProgressOf, statusOf } from '../domain/bar.ts';
import type * as domain from '../domain/challenge.ts';
import { feeOnOffer, prizeOnOffer } from '../domain/prize-offer.ts';

const ATTEMPT_STATUS: Record<ShownStatus, AttemptStatus> = {
  open: AttemptStatus.OPEN,
  settled: AttemptStatus.SETTLED,
  expired: AttemptStatus.EXPIRED,
  voided: AttemptStatus.VOIDED,
};

const CHALLENGE_STATUS: Record<domain.ChallengeStatus, ChallengeStatus> = {
  calibrating: ChallengeStatus.CALIBRATING,
  live: ChallengeStatus.LIVE,
  suspended: ChallengeStatus.SUSPENDED,
  closed: ChallengeStatus.CLOSED,
};

const PRIZE_STRUCTURE: Record<domain.PrizeStructure, PrizeStructure> = {
  threshold: PrizeStructure.THRESHOLD,
  top_n: PrizeStructure.TOP_N,
};

const DIRECTION: Record<domain.ThresholdDirection, ThresholdDirection> = {
  higher_is_better: ThresholdDirection.HIGHER_IS_BETTER,
  lower_is_better: ThresholdDirection.LOWER_IS_BETTER,
};

const CALIBRATION_SOURCE: Record<domain.CalibrationSource, CalibrationSource> = {
  observed: CalibrationSource.OBSERVED,
  listened: CalibrationSource.LISTENED,
  partner_seeded: CalibrationSource.PARTNER_SEEDED,
  rung_derived: CalibrationSource.RUNG_DERIVED,
};

/** The attempt as it was created: open and without an outcome, whatever became of it since. */
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
  return present(attempt, ATTEMPT_STATUS[status], outcome === null ? undefined : presentOutcome(outcome, award));
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

/** A denied award stays withheld; one that is being released or denied is withheld until that is done. */
function presentAward(award: domain.Award): AwardMessage {
  if (award.status === 'paying') throw new Error(`award ${award.id} is being paid and must not be shown`);
  return {
    id: award.id,
    amountCents: award.amountCents,
    paidAt: award.paidAt ?? undefined,
    status: award.status === 'paid' ? AwardStatus.PAID : AwardStatus.HELD,
  };
}

export function presentChallenge(challenge: domain.Challenge): ChallengeMessage {
  const { terms, tenant } = challenge;
  return {
    id: challenge.id,
    tenant: {
      programId: tenant.programId,
      environment: tenant.environment === 'live' ? Environment.LIVE : Environment.TEST,
    },
    terms: {
      name: terms.name,
      description: terms.description ?? undefined,
      feeCents: terms.feeCents,
      prizeCents: terms.prizeCents,
      prizeStructure: PRIZE_STRUCTURE[terms.prizeStructure],
      topN: terms.topN ?? undefined,
      metricName: terms.metricName,
      metricUnit: terms.metricUnit,
      thresholdDirection: DIRECTION[terms.direction],
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
    status: CHALLENGE_STATUS[statusOf(challenge)],
    threshold: barOf(challenge) ?? undefined,
    calibrationSource: CALIBRATION_SOURCE[challenge.calibrationSource],
    rung: challenge.rung,
    createdAt: challenge.createdAt,
    offeredFeeCents: feeOnOffer(challenge),
    offeredPrizeCents: prizeOnOffer(challenge),
    calibration: calibrationProgressOf(challenge) ?? undefined,
  };
}
