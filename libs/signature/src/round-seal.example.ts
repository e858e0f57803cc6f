/** A sealed round of any size, for the tests of verifiers. */
import { createHash } from 'node:crypto';
import { BLOCK_LEAVES, createMerkleTree, proveInclusion } from './merkle.ts';
import { ROUND_SEAL_KIND, type SealLeaf, type SealProof, type SealStatement } from './round-seal.ts';
import { createSigner, type Signer } from './signature.ts';
import { canonicalJson } from './signed-bytes.ts';

export const SEAL_SIGNER = createSigner(Buffer.alloc(32, 3));

const RECEIPT_SIGNER = createSigner(Buffer.alloc(32, 1));

/** The receipt of rank `index + 1`, as the service returns it. */
export function signedReceiptOf(index: number): { receipt: Record<string, unknown>; signature: string } {
  const receipt = {
    receipt_id: `receipt ${index}`,
    tournament_round_id: 'round',
    score: 1_000 - index,
    tiebreak: null,
    recorded_at: '2026-11-21T12:00:00.000Z',
  };
  const { canonical, signature } = RECEIPT_SIGNER.sign(receipt);
  return { receipt: JSON.parse(canonical) as Record<string, unknown>, signature: signature.toString('base64') };
}

export function receiptOf(index: number): Record<string, unknown> {
  return signedReceiptOf(index).receipt;
}

export function leafOf(index: number): SealLeaf {
  return {
    round_id: 'round',
    attempt_id: `attempt ${index}`,
    receipt_id: `receipt ${index}`,
    receipt_sha256: createHash('sha256')
      .update(canonicalJson(receiptOf(index)))
      .digest('hex'),
    player_ref: `player ${index}`,
    score: 1_000 - index,
    tiebreak: null,
    recorded_at: '2026-11-21T12:00:00.000Z',
    best: index % 2 === 0,
    final_rank: index + 1,
    payout_amount: index === 0 ? '12.50' : '0.00',
  };
}

/** The seal of a round with this many leaves, with the proof for one of them. */
export function sealOf(
  leaves: number,
  index: number,
  changes: Partial<SealStatement> = {},
  signer: Signer = SEAL_SIGNER,
): SealProof {
  const texts = Array.from({ length: leaves }, (_, at) => canonicalJson(leafOf(at)));
  const tree = createMerkleTree();
  const blockRoots = texts.flatMap((leaf) => tree.append(leaf)?.root ?? []);
  const { root, lastBlock } = tree.end();
  if (lastBlock !== null) blockRoots.push(lastBlock.root);
  const start = Math.floor(index / BLOCK_LEAVES) * BLOCK_LEAVES;
  const block = texts.slice(start, start + BLOCK_LEAVES);
  const statement: SealStatement = {
    kind: ROUND_SEAL_KIND,
    version: 1,
    round_id: 'round',
    round_number: 7,
    tournament_id: 'tournament',
    program_id: 'program',
    environment: 'live',
    threshold_direction: 'higher_is_better',
    tiebreak_direction: null,
    purse_amount: '12.50',
    entrant_count: leaves,
    scored_players: leaves,
    leaves,
    root: root.toString('hex'),
    closes_at: '2026-11-21T13:00:00.000Z',
    settled_at: '2026-11-21T13:00:01.000Z',
    ...changes,
  };
  const signed = signer.sign(statement);
  return {
    statement: JSON.parse(signed.canonical) as SealStatement,
    signature: signed.signature.toString('base64'),
    public_key: signer.publicKey.toString('base64'),
    leaf: leafOf(index),
    leaf_index: index,
    proof: proveInclusion({ index, leaves, block, blockRoots }).map((hash) => hash.toString('hex')),
  };
}
