import { ChallengeStatus } from '@laurel/proto/challenge';
import { describe, expect, test } from 'vitest';
import { CHALLENGE } from './challenge.fixture.ts';
import { presentChallenge, presentOperatorChallenge } from './challenge.ts';

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

  test('a challenge in a list shows its ramp only while the ramp caps the prize', () => {
    const ramp = { fullPrizeCents: 400n, attemptsSeen: 34n, attemptsRequired: 100n };
    const live = { ...CHALLENGE, status: ChallengeStatus.LIVE, threshold: 9, offeredPrizeCents: 80n };
    expect(presentChallenge({ ...live, ramp })).toMatchObject({
      prize: '0.80',
      ramp: { active: true, fullPrize: '4.00', attemptsSeen: 34, attemptsRequired: 100 },
    });
    expect(presentChallenge(live)).not.toHaveProperty('ramp');
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
