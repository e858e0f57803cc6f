/** GetReceipt: the signed record of an outcome, of any tenant. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { findReceipt, isReceiptArchived } from '../repository/outcomes.ts';

const RECEIPT_IS_ARCHIVED = 'The receipt is kept only in the archive of its month.';

export function getReceipt({ database }: { database: Database }): Handlers<ChallengeServiceService>['getReceipt'] {
  return async (request) => {
    const receiptId = parseId(request.receiptId);
    const found = await findReceipt(database, receiptId);
    if (found === null) {
      const isArchived = await isReceiptArchived(database, receiptId);
      return isArchived ? refused('not_found', RECEIPT_IS_ARCHIVED) : refused('not_found');
    }
    return { receiptJson: found.receipt, signature: found.signature, publicKey: found.publicKey };
  };
}
