/** The domain types of this service. */

import type { AwardStatus, OwnedAttempt, RecordedOutcome, Tenant } from '@laurel/attempts/domain';
import type { Cents } from '@laurel/values/money';

export type ChallengeStatus = 'calibrating' | 'live' | 'suspended' | 'closed';
export type PrizeStructure = 'threshold' | 'top_n';
export type ThresholdDirection = 'higher_is_better' | 'lower_is_better';
export type CalibrationSource = 'observed' | 'listened' | 'partner_seeded' | 'rung_derived';

/** What the operator set; it never changes. */
export type ChallengeTerms = {
  readonly name: string;
  readonly description: string | null;
  readonly feeCents: Cents;
  readonly prizeCents: Cents;
  readonly prizeStructure: PrizeStructure;
  /** Null unless the structure is `top_n`. */
  readonly topN: number | null;
  readonly metricName: string;
  readonly metricUnit: string;
  readonly direction: ThresholdDirection;
  readonly scoreMin: number | null;
  readonly scoreMax: number | null;
  readonly targetPassRate: number;
  readonly integrityTier: number;
  readonly minCalibrationN: number;
  readonly minCalibrationPlayers: number;
  readonly dailyAttemptCap: number;
  readonly requiredVerificationLevel: number;
  /** An empty list means all. */
  readonly jurisdictions: readonly string[];
  readonly parentChallengeId: string | null;
};

export type Challenge = {
  readonly id: string;
  readonly tenant: Tenant;
  readonly terms: ChallengeTerms;
  /** The stored status. Partners are shown the result of `statusOf` (current-bar.ts). */
  readonly status: ChallengeStatus;
  /** The calibrated bar; always null for `top_n`. */
  readonly threshold: number | null;
  readonly calibrationSource: CalibrationSource;
  readonly rung: number;
  readonly createdAt: Date;
  /**
   * Whether the challenge has a ramp until attempts confirm its bar: true if the bar rests on
   * reported scores, false for a bar that an operator set and for a moving bar.
   */
  readonly hasRamp: boolean;
  /**
   * When the prize of a challenge with a ramp was confirmed; null before that, and without a ramp.
   */
  readonly rampCompletedAt: Date | null;
  /**
   * Settled paid attempts since the challenge's drift monitor started: those that the monitor has
   * counted and, during the ramp, those that it has yet to count.
   */
  readonly attemptsSeen: number;
  /**
   * Attempts that are open or wait for the monitor, while the bar is unconfirmed (ramp.ts); null
   * otherwise.
   */
  readonly unconfirmedAttempts: number | null;
  /** For `top_n`: the n-th best settled score so far; null while there are fewer. */
  readonly nthBestScore: number | null;
  /** Scores and distinct players so far, while there is no bar. */
  readonly collected: number;
  readonly playersCollected: number;
};

export type Attempt = OwnedAttempt & {
  readonly challengeId: string;
  /** The prize that this attempt can win, frozen; 0 for a free attempt. */
  readonly prizeCents: Cents;
  /** The bar, frozen; null for a free attempt. */
  readonly threshold: number | null;
  /** A JSON object, as text. */
  readonly metadata: string;
  readonly disqualifiedAt: Date | null;
};

/** The fields of its challenge that an attempt needs. They never change. */
export type AttemptTerms = {
  readonly tenant: Tenant;
  readonly direction: ThresholdDirection;
  readonly prizeStructure: PrizeStructure;
  readonly scoreMin: number | null;
  readonly scoreMax: number | null;
};

export type Award = {
  readonly id: string;
  readonly attemptId: string;
  readonly challengeId: string;
  readonly accountId: string;
  readonly amountCents: Cents;
  readonly status: AwardStatus;
  readonly createdAt: Date;
  readonly paidAt: Date | null;
};

export type Outcome = RecordedOutcome;

/**
 * The identity by which a player is counted: the account, so that two refs of one account are one
 * player. The ref counts only if it has no account.
 */
export function playerIdentity(accountId: string | null, playerRef: string): string {
  return accountId === null ? `ref:${playerRef}` : `account:${accountId}`;
}
