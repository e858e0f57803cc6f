/**
 * An attempt, with the fields that challenges and rounds share, and the transfer that pays for it.
 */

import { feeTransferId } from '@laurel/values/ids';
import type { Cents } from '@laurel/values/money';
import type { AttemptStatus } from './attempt.ts';

export type OwnedAttempt = {
  readonly id: string;
  /** The account that pays. Null only if there is no fee. */
  readonly accountId: string | null;
  readonly playerRef: string;
  readonly status: AttemptStatus;
  readonly feeCents: Cents;
  readonly createdAt: Date;
  /** Which of the attempt's fee transfers is current: see feeTransferId. */
  readonly feeGeneration: number;
  /**
   * If refused: the refusal's code, or ABANDONED_CODE. If voided: the operator's reason. If a round
   * ended it: how. Else null.
   */
  readonly closedReason: string | null;
};

/**
 * The `closedReason` of a refused attempt whose fee got a tombstone before the wallet received it.
 * No rule refused it, so it may be restarted.
 */
export const ABANDONED_CODE = 'abandoned';

/**
 * What identifies the current fee to the wallet: the transfer id, and the fields from which it
 * derives.
 */
export type Fee = { readonly transferId: string; readonly attemptId: string; readonly feeGeneration: number };

export function feeOf({ id, feeGeneration }: Pick<OwnedAttempt, 'id' | 'feeGeneration'>): Fee {
  return { transferId: feeTransferId(id, feeGeneration), attemptId: id, feeGeneration };
}
