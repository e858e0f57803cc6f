/**
 * GetReceipt: the signed record of an outcome, of any tenant. Once its round is settled, the
 * response also proves that the round counted it.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { SealProof, TournamentServiceService } from '@laurel/proto/tournament';
import { BLOCK_LEAVES, proveInclusion } from '@laurel/signature';
import { composeSealLeaf } from '../domain/seal.ts';
import { findReceipt, type Receipt } from '../repository/outcomes.ts';
import { findSeal, loadBlockOf } from '../repository/seals.ts';

export function getReceipt({ database }: { database: Database }): Handlers<TournamentServiceService>['getReceipt'] {
  return async (request) => {
    const found = await findReceipt(database, parseId(request.receiptId));
    if (found === null) return refused('not_found');
    return {
      receiptJson: found.receipt,
      signature: found.signature,
      publicKey: found.publicKey,
      seal: await proveCounted(found, database),
    };
  };
}

/** Reads only the leaves of the receipt's block; the rest of the tree is stored as block roots. */
async function proveCounted(receipt: Receipt, database: Database): Promise<SealProof | undefined> {
  const seal = await findSeal(database, receipt.roundId);
  if (seal === null) return undefined;
  const found = await loadBlockOf(database, receipt);
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
