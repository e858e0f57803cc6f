/**
 * Challenges as JSON: the list item of the contract (docs/contract/partner-api.md, "Challenge"),
 * and what an operator and the program's developer see in addition.
 */

import type { Challenge, SeedChallengeResponse } from '@laurel/proto/challenge';
import {
  CALIBRATION_SOURCES,
  CHALLENGE_STATUSES,
  ENVIRONMENTS,
  nameOf,
  PRIZE_STRUCTURES,
  THRESHOLD_DIRECTIONS,
} from '@laurel/proto/enum-names';
import { formatAmount } from '@laurel/values/money';

/**
 * The list item of `GET /v1/challenges`: fee and prize are those currently on offer, not those
 * configured.
 */
export function presentChallenge(challenge: Challenge) {
  const terms = termsOf(challenge);
  const { calibration, ramp } = challenge;
  const status = nameOf(CHALLENGE_STATUSES, challenge.status);
  return {
    id: challenge.id,
    name: terms.name,
    description: terms.description ?? null,
    fee: formatAmount(challenge.offeredFeeCents),
    prize: formatAmount(challenge.offeredPrizeCents),
    currency: 'USD' as const,
    status,
    prize_structure: nameOf(PRIZE_STRUCTURES, terms.prizeStructure),
    threshold: challenge.threshold ?? null,
    min_calibration_n: terms.minCalibrationN,
    calibration_source: nameOf(CALIBRATION_SOURCES, challenge.calibrationSource),
    metric_name: terms.metricName,
    metric_unit: terms.metricUnit,
    rung: challenge.rung,
    parent_challenge_id: terms.parentChallengeId === '' ? null : terms.parentChallengeId,
    ...(ramp !== undefined && {
      ramp: {
        active: true as const,
        fullPrize: formatAmount(ramp.fullPrizeCents),
        attemptsSeen: Number(ramp.attemptsSeen),
        attemptsRequired: Number(ramp.attemptsRequired),
      },
    }),
    ...(status === 'calibrating' &&
      calibration !== undefined && {
        calibration: {
          collected: calibration.collected,
          required: calibration.required,
          playersCollected: calibration.playersCollected,
          playersRequired: calibration.playersRequired,
        },
      }),
  };
}

const SEEDED_NOTE =
  'The bar is provisional: until settled attempts have confirmed it, the prize is at most 20 % of the ceiling of its integrity tier.';

/**
 * The response of `POST /v1/challenges/{id}/distribution`, as JSON text: a replay sends the same
 * bytes.
 */
export function presentDistributionResult(seeded: SeedChallengeResponse): string {
  return JSON.stringify({
    challenge_id: seeded.challengeId,
    threshold: seeded.threshold,
    target_pass_rate: seeded.targetPassRate,
    sample_size: Number(seeded.sampleSize),
    calibration_source: 'partner_seeded',
    provisional: true,
    note: SEEDED_NOTE,
  });
}

/**
 * The list item and everything that the operator set; `configured_fee` and `configured_prize` are
 * the terms as given.
 */
export function presentOperatorChallenge(challenge: Challenge) {
  const terms = termsOf(challenge);
  if (challenge.tenant === undefined || challenge.createdAt === undefined)
    throw new Error('the challenge service sent an incomplete challenge');
  return {
    ...presentChallenge(challenge),
    program_id: challenge.tenant.programId,
    environment: nameOf(ENVIRONMENTS, challenge.tenant.environment),
    configured_fee: formatAmount(terms.feeCents),
    configured_prize: formatAmount(terms.prizeCents),
    threshold_direction: nameOf(THRESHOLD_DIRECTIONS, terms.thresholdDirection),
    target_pass_rate: terms.targetPassRate,
    integrity_tier: terms.integrityTier,
    top_n: terms.topN ?? null,
    score_min: terms.scoreMin ?? null,
    score_max: terms.scoreMax ?? null,
    min_calibration_players: terms.minCalibrationPlayers,
    daily_attempt_cap: terms.dailyAttemptCap,
    required_verification_level: terms.requiredVerificationLevel,
    jurisdictions: terms.jurisdictions,
    created_at: challenge.createdAt.toISOString(),
  };
}

function termsOf(challenge: Challenge) {
  if (challenge.terms === undefined) throw new Error('the challenge service sent a challenge without its terms');
  return challenge.terms;
}
