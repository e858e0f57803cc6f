import {
  CalibrationSource,
  type Challenge,
  ChallengeStatus,
  PrizeStructure,
  ThresholdDirection,
} from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';
import { describe, expect, test } from 'vitest';
import { presentChallenge, presentOperatorChallenge } from './challenge.ts';

const CHALLENGE: Challenge = {
  id: '0199aaaa-0000-7000-8000-000000000001',
  tenant: { programId: '0199aaaa-0000-7000-8000-000000000002', environment: Environment.TEST },
  terms: {
    name: 'Sprint',
    description: undefined,
    feeCents: 100n,
    prizeCents: 400n,
    prizeStructure: PrizeStructure.THRESHOLD,
    topN: undefined,
    metricName: 'score',
    metricUnit: 'points',
    thresholdDirection: ThresholdDirection.LOWER_IS_BETTER,
    scoreMin: 0,
    scoreMax: undefined,
    targetPassRate: 0.2,
    integrityTier: 1,
    minCalibrationN: 200,
    minCalibrationPlayers: 20,
    dailyAttemptCap: 10,
    requiredVerificationLevel: 0,
    jurisdictions: [],
    parentChallengeId: '',
  },
  status: ChallengeStatus.CALIBRATING,
  threshold: undefined,
  calibrationSource: CalibrationSource.OBSERVED,
  rung: 1,
  createdAt: new Date('2026-10-01T12:00:00.000Z'),
  offeredFeeCents: 0n,
  offeredPrizeCents: 400n,
  calibration: { collected: 3, required: 200, playersCollected: 2, playersRequired: 20 },
};

describe('a challenge in a list', () => {
  test('a challenge in a list has the fields of the contract and no other', () => {
    expect(presentChallenge(CHALLENGE)).toEqual({
      id: CHALLENGE.id,
      name: 'Sprint',
      description: null,
      fee: '0.00',
      prize: '4.00',
      currency: 'USD',
      status: 'calibrating',
      prize_structure: 'threshold',
      threshold: null,
      min_calibration_n: 200,
      calibration_source: 'observed',
      metric_name: 'score',
      metric_unit: 'points',
      rung: 1,
      parent_challenge_id: null,
      calibration: { collected: 3, required: 200, playersCollected: 2, playersRequired: 20 },
    });
  });

  test('a challenge in a list shows its calibration only while it calibrates', () => {
    const live = presentChallenge({ ...CHALLENGE, status: ChallengeStatus.LIVE, threshold: 0, offeredFeeCents: 100n });
    expect(live).not.toHaveProperty('calibration');
    expect(live).toMatchObject({ status: 'live', threshold: 0, fee: '1.00' });
  });
});

test('an operator also sees the terms of a challenge', () => {
  expect(presentOperatorChallenge(CHALLENGE)).toEqual({
    ...presentChallenge(CHALLENGE),
    program_id: '0199aaaa-0000-7000-8000-000000000002',
    environment: 'test',
    configured_fee: '1.00',
    configured_prize: '4.00',
    threshold_direction: 'lower_is_better',
    target_pass_rate: 0.2,
    integrity_tier: 1,
    top_n: null,
    score_min: 0,
    score_max: null,
    min_calibration_players: 20,
    daily_attempt_cap: 10,
    required_verification_level: 0,
    jurisdictions: [],
    created_at: '2026-10-01T12:00:00.000Z',
  });
});
