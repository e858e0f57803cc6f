/** The report and the outcome of an attempt, with the fields that both contest services share. */
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
  /** Always false in a contest without a bar. */
  readonly metThreshold: boolean;
  readonly thresholdApplied: number | null;
  readonly recordedAt: Date;
}
