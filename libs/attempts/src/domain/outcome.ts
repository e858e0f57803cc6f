/** What every contest reports and records about an attempt. */
import type { Tenant } from '@laurel/values/tenant';
import type { IdempotencyUse } from './idempotency-use.ts';

/** One reported score: the fields that every kind of contest reads. */
export interface ScoreReport {
  readonly operationId: string;
  readonly attemptId: string;
  readonly tenant: Tenant;
  readonly score: number;
  /** A JSON object as text, or empty. */
  readonly evidence: string;
  readonly idempotencyUse: IdempotencyUse | null;
}

export interface RecordedOutcome {
  readonly attemptId: string;
  readonly receiptId: string;
  readonly score: number;
  /** The value is false in a contest without a bar. */
  readonly metThreshold: boolean;
  readonly thresholdApplied: number | null;
  readonly recordedAt: Date;
}
