/** GetReceipt: the signed record of an outcome, of any tenant. */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import { findReceipt } from '../repository/outcomes.ts';

export function getReceipt({ database }: { database: Database }): Handlers<ChallengeServiceService>['getReceipt'] {
  return async (request) => {
    const found = await findReceipt(database, parseId(request.receiptId));
    if (found === null) return refused('not_found');
    return { receiptJson: found.receipt, signature: found.signature, publicKey: found.publicKey };
  };
}
