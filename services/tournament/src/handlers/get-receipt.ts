/**
 * GetReceipt: the signed record of an outcome, of any tenant. Once its round is settled, the
 * response also proves that the round counted it. One snapshot reads the receipt and the leaves,
 * because an archived round is deleted in several commits.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database, Queryable } from '@laurel/postgres';
import type { SealProof, TournamentServiceService } from '@laurel/proto/tournament';
import { BLOCK_LEAVES, proveInclusion } from '@laurel/signature';
import { composeSealLeaf } from '../domain/seal.ts';
import { findReceipt, isReceiptRecorded, type Receipt } from '../repository/outcomes.ts';
import { findSeal, loadBlockOf } from '../repository/seals.ts';

const RECEIPT_IS_ARCHIVED = 'The receipt is kept only in the archive of its month.';

export function getReceipt({ database }: { database: Database }): Handlers<TournamentServiceService>['getReceipt'] {
  return async (request) => {
    const receiptId = parseId(request.receiptId);
    return await database.transaction(
      async (tx) => {
        const found = await findReceipt(tx, receiptId);
        if (found === null) {
          const isArchived = await isReceiptRecorded(tx, receiptId);
          return isArchived ? refused('not_found', RECEIPT_IS_ARCHIVED) : refused('not_found');
        }
        return {
          receiptJson: found.receipt,
          signature: found.signature,
          publicKey: found.publicKey,
          seal: await proveCounted(found, tx),
        };
      },
      { isSnapshot: true },
    );
  };
}

/** Reads only the leaves of the receipt's block; the rest of the tree is stored as block roots. */
async function proveCounted(receipt: Receipt, on: Queryable): Promise<SealProof | undefined> {
  const seal = await findSeal(on, receipt.roundId);
  if (seal === null) return undefined;
  const found = await loadBlockOf(on, receipt);
  const inBlock = found?.leaves.findIndex(({ counted }) => counted.outcome.attemptId === receipt.attemptId) ?? -1;
  if (found === null || inBlock < 0)
    throw new Error(`the seal of round ${receipt.roundId} does not count attempt ${receipt.attemptId}`);

  const index = found.block.position * BLOCK_LEAVES + inBlock;
  const block = found.leaves.map(({ counted }) => composeSealLeaf(counted));
  const { leaves, blockRoots, statement, signature, publicKey } = seal;
  return {
    statementJson: statement,
    signature,
    publicKey,
    leafJson: block[inBlock] ?? '',
    leafIndex: BigInt(index),
    proof: [...proveInclusion({ index, leaves, block, blockRoots })],
  };
}
