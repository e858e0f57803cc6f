/** An attempt of either owner, as far as the money path knows it, and the transfer that pays for it. */
import type { AttemptStatus } from '@laurel/attempt';
import { deriveId, feeTransferId } from '@laurel/ids';
import type { Cents } from '@laurel/money';

export type OwnedAttempt = {
  readonly id: string;
  /** The account that pays. Null only where there is no fee. */
  readonly accountId: string | null;
  readonly playerRef: string;
  readonly status: AttemptStatus;
  readonly feeCents: Cents;
  readonly createdAt: Date;
  /** Which of the attempt's fee transfers counts: see feeTransferOf. */
  readonly feeGeneration: number;
  /** The code of a refused attempt, or ABANDONED; the operator's reason of a voided one; how a round ended one that expired; else null. */
  readonly closedReason: string | null;
};

/** Why an attempt is refused whose fee was fenced before the wallet ever heard of it: nobody said no, so it may be begun again. */
export const ABANDONED = 'abandoned';

/**
 * The id of the wallet's transfer that charges an attempt's fee. A transfer id is decided once and for ever, so an attempt that is begun
 * again after its fee was fenced needs another one: each generation derives its own. Generation 0 is what almost every attempt has.
 */
export function feeTransferOf(attempt: Pick<OwnedAttempt, 'id' | 'feeGeneration'>): string {
  return attempt.feeGeneration === 0 ? feeTransferId(attempt.id) : deriveId(attempt.id, `fee:${attempt.feeGeneration}`);
}
