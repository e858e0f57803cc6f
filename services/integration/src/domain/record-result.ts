/**
 * The result of one record of a pushed or polled body, as the response to the partner and the log
 * show it.
 *
 * settled    settled now.
 * duplicate  settled before by the same report.
 * listened   a score without an attempt, kept to calibrate its challenge.
 * ignored    excluded by the descriptor's `when`.
 * rejected   not settled; the code says why.
 */
import type { ApiErrorCode } from '@laurel/errors';

export type RecordStatus = 'settled' | 'duplicate' | 'ignored' | 'rejected' | 'listened';

export type RecordResult = {
  /** The record's index in the body, from 0. */
  readonly index: number;
  readonly status: RecordStatus;
  /** Null if no attempt was found. */
  readonly attemptId: string | null;
  /** Null unless it was rejected. */
  readonly code: ApiErrorCode | null;
  /** Why it was rejected, for the partner's engineer. */
  readonly message: string | null;
};
