/**
 * Seals a round whose payouts are all decided. It reads the leaves page by page, and keeps only
 * block roots (domain/seal.ts).
 */
import type { Outbox } from '@laurel/events';
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { BLOCK_LEAVES, createMerkleTree, type Signer } from '@laurel/signature';
import { composeSealLeaf, composeSealStatement } from '../domain/seal.ts';
import { roundSettled } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import type { RoundWithTally } from '../repository/rounds.ts';
import { finishSettlement, loadLeaves, type OrderedLeaf, type SealBlock } from '../repository/seals.ts';

type SealDeps = { database: Database; outbox: Outbox; signer: Signer; signingKeyId: number; clock: Clock };

type SealedTree = { readonly leaves: number; readonly root: Buffer; readonly blocks: readonly SealBlock[] };

const PAGE_ENTRIES = 500;

/**
 * Moves the round `settling -> settled`, with its event. Does nothing if another process was first,
 * or has not yet written what the wallet decided about a payout: the next run retries.
 */
export async function sealRound({ round, tally }: RoundWithTally, deps: SealDeps): Promise<void> {
  const { database, outbox, signer, signingKeyId, clock } = deps;
  const { leaves, root, blocks } = await growTree(round.id, database);
  const settledAt = clock();
  const { canonical, signature } = signer.sign(composeSealStatement({ round, tally, leaves, root, settledAt }));
  const seal = { roundId: round.id, leaves, root, statement: canonical, signature, createdAt: settledAt };
  const events = await database.transaction(async (tx) => {
    if (!(await finishSettlement(tx, seal, blocks, signingKeyId))) return [];
    const events = [roundSettled(round, tally, settledAt)];
    await outbox.insert(tx, events);
    await failpoint('tournament.seal.before-commit');
    return events;
  });
  if (events.length === 0) return;
  await failpoint('tournament.seal.after-commit');
  outbox.publish(events);
}

async function growTree(roundId: string, database: Database): Promise<SealedTree> {
  const tree = createMerkleTree();
  const blocks: SealBlock[] = [];
  let count = 0;
  let first: OrderedLeaf | null = null;

  function endBlock(found: { readonly position: number; readonly root: Buffer } | null): void {
    if (found === null) return;
    if (first === null) throw new Error(`block ${found.position} of round ${roundId} has no first leaf`);
    blocks.push({ ...found, firstSortKey: first.sortKey, leavesBefore: first.leavesBefore });
  }

  for (let after: Buffer | null = null; ; ) {
    const page = await loadLeaves(database, roundId, after, PAGE_ENTRIES);
    for (const leaf of page) {
      if (count % BLOCK_LEAVES === 0) first = leaf;
      endBlock(tree.append(composeSealLeaf(leaf.counted)));
      count += 1;
    }
    after = page.at(-1)?.sortKey ?? null;
    if (after === null) break;
  }
  const { leaves, root, lastBlock } = tree.end();
  endBlock(lastBlock);
  return { leaves, root, blocks };
}
