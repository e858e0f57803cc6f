/** Example values for the tests of the rules. */

import type { Tenant } from '@laurel/attempts/domain';
import { cents } from '@laurel/values/money';
import type { Attempt, AttemptTerms, Challenge, ChallengeTerms } from './challenge.ts';
import type { TierCeilings } from './tier-ceiling.ts';

export const TENANT: Tenant = { programId: 'program', environment: 'live' };
export const NOW = new Date('2026-11-21T12:00:00.000Z');
export const CEILINGS: TierCeilings = [cents(2_500n), cents(25_000n), cents(250_000n)];

export const TERMS: ChallengeTerms = {
  name: 'Longest run',
  description: null,
  feeCents: cents(100n),
  prizeCents: cents(2_000n),
  prizeStructure: 'threshold',
  topN: null,
  metricName: 'distance',
  metricUnit: 'm',
  direction: 'higher_is_better',
  scoreMin: null,
  scoreMax: null,
  targetPassRate: 0.2,
  integrityTier: 1,
  minCalibrationN: 200,
  minCalibrationPlayers: 20,
  dailyAttemptCap: 2,
  requiredVerificationLevel: 0,
  jurisdictions: [],
  parentChallengeId: null,
};

export const LIVE_CHALLENGE: Challenge = {
  id: 'challenge',
  tenant: TENANT,
  terms: TERMS,
  status: 'live',
  threshold: 100,
  calibrationSource: 'observed',
  rung: 1,
  createdAt: NOW,
  hasRamp: false,
  rampCompletedAt: null,
  attemptsSeen: 0,
  unconfirmedAttempts: null,
  nthBestScore: null,
  collected: 0,
  playersCollected: 0,
};

export const CALIBRATING_CHALLENGE: Challenge = { ...LIVE_CHALLENGE, status: 'calibrating', threshold: null };

export const TOP_N_CHALLENGE: Challenge = {
  ...LIVE_CHALLENGE,
  terms: { ...TERMS, prizeStructure: 'top_n', topN: 3 },
  threshold: null,
};

export const ATTEMPT: Attempt = {
  id: 'attempt',
  challengeId: LIVE_CHALLENGE.id,
  accountId: 'account',
  playerRef: 'player',
  status: 'open',
  feeCents: cents(100n),
  prizeCents: cents(2_000n),
  threshold: 100,
  metadata: '{}',
  createdAt: NOW,
  disqualifiedAt: null,
  feeGeneration: 0,
  closedReason: null,
};

export const ATTEMPT_TERMS: AttemptTerms = {
  tenant: TENANT,
  direction: 'higher_is_better',
  prizeStructure: 'threshold',
  scoreMin: null,
  scoreMax: null,
};
