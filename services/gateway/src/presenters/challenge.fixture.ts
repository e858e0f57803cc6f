/** A challenge as its service returns it, for tests. */
import {
  CalibrationSource,
  type Challenge,
  ChallengeStatus,
  PrizeStructure,
  ThresholdDirection,
} from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';

export const CHALLENGE: Challenge = {
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
  ramp: undefined,
};
