/**
 * The id of the wallet's transfer that charges an attempt's fee. A transfer id is decided once and for ever, so an attempt that is begun
 * again after its fee was fenced needs another one: each generation derives its own. Generation 0 is what almost every attempt has.
 */
import { deriveId, feeTransferId } from '@laurel/ids';
import type { Attempt } from './challenge.ts';

export function feeTransferOf(attempt: Pick<Attempt, 'id' | 'feeGeneration'>): string {
  return attempt.feeGeneration === 0 ? feeTransferId(attempt.id) : deriveId(attempt.id, `fee:${attempt.feeGeneration}`);
}
