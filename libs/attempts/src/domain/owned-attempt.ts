/**
 * An attempt, with the fields that challenges and rounds share, and the transfer that pays for it.
 */

import { feeTransferId } from '@laurel/values/ids';
import type { Cents } from '@laurel/values/money';
import type { AttemptStatus } from './attempt.ts';

export type OwnedAttempt = {
  readonly id: string;
  /** The account that pays. Null only if the attempt has no fee. */
  readonly accountId: string | null;
  readonly playerRef: string;
  readonly status: AttemptStatus;
  readonly feeCents: Cents;
  readonly createdAt: Date;
  /** Which of the attempt's fee transfers is current: see feeTransferId. */
  readonly feeGeneration: number;
  /**
   * The code of the refusal or ABANDONED_CODE if the attempt was refused; the operator's reason if
   * it was voided; a RoundReason if its round ended it; else null.
   */
  readonly closedReason: string | null;
};

/**
 * The `closedReason` of a refused attempt whose fee got a tombstone before the wallet received the
 * fee. No rule refused the attempt, so a retry may restart it.
 */
export const ABANDONED_CODE = 'abandoned';

/**
 * The current fee of an attempt, as the wallet identifies it: the transfer id, and the fields from
 * which that id derives.
 */
export type Fee = { readonly transferId: string; readonly attemptId: string; readonly feeGeneration: number };

export function feeOf({ id, feeGeneration }: Pick<OwnedAttempt, 'id' | 'feeGeneration'>): Fee {
  return { transferId: feeTransferId(id, feeGeneration), attemptId: id, feeGeneration };
}
