/**
 * The seam to the service that owns a kind of contest: challenges, or the rounds of tournaments. The service implements it over
 * its own tables. What becomes of an attempt once it was made is written once, behind this seam.
 */
import type { Tenant } from '@laurel/tenant';
import type { OwedAward, PayableAward } from './domain/award.ts';
import type { OwnedAttempt } from './domain/owned-attempt.ts';
import type { RoundReason } from './domain/refund-reason.ts';

/** An attempt as it is stored, and what its contest says of it. */
export interface FoundAttempt {
  readonly attempt: OwnedAttempt;
  readonly tenant: Tenant;
  /** The challenge, or the round. */
  readonly contestId: string;
  /** A JSON object, as the text that the partner sent. */
  readonly metadata: string;
  /** How the end of its contest has ended the attempt, if it was open then; null while the contest takes its score. */
  readonly endedBy: RoundReason | null;
}

export interface RecordedOutcome {
  readonly attemptId: string;
  readonly receiptId: string;
  readonly score: number;
  /** False in a contest without a bar. */
  readonly metThreshold: boolean;
  readonly thresholdApplied: number | null;
  readonly recordedAt: Date;
}

export interface Contest {
  /** Null where there is none. */
  findAttempt(id: string): Promise<FoundAttempt | null>;
  /** Of a settled attempt. */
  loadOutcome(attemptId: string): Promise<RecordedOutcome>;
  /** The prize that a settled attempt won; null where it won none, as in a contest that pays by rank. */
  findAwardOf(attemptId: string): Promise<OwedAward<PayableAward> | null>;
}
