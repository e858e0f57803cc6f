/** Maps domain values to messages. */
import { presentTenant } from '@laurel/grpc';
import type { Challenge as ChallengeMessage } from '@laurel/proto/challenge';
import {
  CALIBRATION_SOURCES,
  CHALLENGE_STATUSES,
  PRIZE_STRUCTURES,
  THRESHOLD_DIRECTIONS,
} from '@laurel/proto/enum-names';
import type * as domain from '../domain/challenge.ts';
import { barOf, calibrationProgressOf, statusOf } from '../domain/current-bar.ts';
import { feeOnOffer, prizeOnOffer } from '../domain/prize-offer.ts';
import { type Ramp, rampOf } from '../domain/ramp.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';

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

/**
 * Shows at most the number of attempts that completes the ramp: more may have ended before the
 * worker completes it.
 */
export function presentRamp(ramp: Ramp | null): ChallengeMessage['ramp'] {
  if (ramp === null) return undefined;
  const { fullPrizeCents, attemptsSeen, attemptsRequired } = ramp;
  return {
    fullPrizeCents,
    attemptsSeen: BigInt(Math.min(attemptsSeen, attemptsRequired)),
    attemptsRequired: BigInt(attemptsRequired),
  };
}
