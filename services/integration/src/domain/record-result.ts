/**
 * What became of one record of a pushed or polled body, as the partner's answer and the log state it.
 *
 * settled    settled now.
 * duplicate  settled before by the same report.
 * listened   a score without an attempt, kept for the calibration of its challenge.
 * ignored    not for us: `when` of the descriptor leaves it out.
 * rejected   not settled; the code says why.
 */
import type { ApiErrorCode } from '@laurel/errors';

export type RecordStatus = 'settled' | 'duplicate' | 'ignored' | 'rejected' | 'listened';

export type RecordResult = {
  /** Its place in the body, from 0. */
  readonly index: number;
  readonly status: RecordStatus;
  /** Null where none was found. */
  readonly attemptId: string | null;
  /** Null unless it was rejected. */
  readonly code: ApiErrorCode | null;
  /** Why it was rejected, for the partner's engineer. */
  readonly message: string | null;
};
