import { createHash } from 'node:crypto';
import {
  BLOCK_LEAVES,
  canonicalJson,
  createMerkleTree,
  createSigner,
  proveInclusion,
  type SealLeaf,
  type SealStatement,
  type SignedDocument,
} from '@laurel/signature';
import { verdictOnReceipt } from '@laurel/testing';
import { cents, parseAmount } from '@laurel/values/money';
import { describe, expect, it } from 'vitest';
import { ATTEMPT, after, NOW, ROUND, ROUND_ID } from './example.ts';
import { composeReceipt } from './receipt.ts';
import { type CountedOutcome, composeSealLeaf, composeSealStatement } from './seal.ts';

const SIGNER = createSigner(Buffer.alloc(32, 9));
const SETTLED_AT = after(1, ROUND.closesAt);

function counted(
  rank: number,
  changes: Partial<CountedOutcome> = {},
): CountedOutcome & { readonly receipt: SignedDocument } {
  const attempt = { ...ATTEMPT, id: `attempt ${rank}`, playerRef: `player ${rank}` };
  const outcome = {
    attemptId: attempt.id,
    receiptId: `receipt ${rank}`,
    score: 1_000 - rank,
    tiebreak: null,
    recordedAt: NOW,
  };
  const document = composeReceipt({ attempt, round: ROUND, outcome, reportedTiebreak: null, evidence: '' });
  const receipt = SIGNER.sign(document);
  return {
    roundId: ROUND_ID,
    outcome,
    playerRef: attempt.playerRef,
    receipt,
    receiptSha256: createHash('sha256').update(receipt.canonical).digest('hex'),
    isBest: true,
    finalRank: rank,
    payoutCents: cents(rank === 1 ? 10_000n : 0n),
    ...changes,
  };
}

describe('a leaf', () => {
  it('a leaf states how a scored attempt was counted', () => {
    const one = counted(1);
    expect(JSON.parse(composeSealLeaf(one))).toEqual({
      round_id: ROUND_ID,
      attempt_id: 'attempt 1',
      receipt_id: 'receipt 1',
      receipt_sha256: createHash('sha256').update(one.receipt.canonical).digest('hex'),
      player_ref: 'player 1',
      score: 999,
      tiebreak: null,
      recorded_at: '2026-11-21T12:00:00.000Z',
      best: true,
      final_rank: 1,
      payout_amount: '100.00',
    });
  });

  it('a leaf is canonical JSON', () => {
    const leaf = composeSealLeaf(counted(1, { playerRef: 'ünïcode "quoted"' }));
    expect(canonicalJson(JSON.parse(leaf))).toBe(leaf);
  });
});

describe('a statement', () => {
  const tally = { entrants: 3, scoredPlayers: 2, scoredAttempts: 4 };
  const facts = { round: ROUND, tally, leaves: 4, root: Buffer.alloc(32, 0xab), settledAt: SETTLED_AT };

  it('a sealed statement names the round, the root of the leaves and their number', () => {
    expect(composeSealStatement(facts)).toEqual({
      kind: 'laurel.round_seal',
      version: 1,
      round_id: ROUND_ID,
      round_number: 4,
      tournament_id: 'tournament',
      program_id: 'program',
      environment: 'live',
      threshold_direction: 'higher_is_better',
      tiebreak_direction: null,
      purse_amount: '200.00',
      entrant_count: 3,
      scored_players: 2,
      leaves: 4,
      root: 'ab'.repeat(32),
      closes_at: '2026-11-21T13:00:00.000Z',
      settled_at: '2026-11-21T13:00:00.001Z',
    });
  });

  it('a statement can be made only from exactly the leaves of the scored attempts', () => {
    expect(() => composeSealStatement({ ...facts, leaves: 3 })).toThrow('4 scored attempts and 3 leaves');
  });
});

describe('a sealed round', () => {
  const size = BLOCK_LEAVES + 2;
  const outcomes = Array.from({ length: size }, (_, index) => counted(index + 1));
  const leaves = outcomes.map(composeSealLeaf);
  const tree = createMerkleTree();
  const blockRoots = leaves.flatMap((leaf) => tree.append(leaf)?.root ?? []);
  const end = tree.end();
  if (end.lastBlock !== null) blockRoots.push(end.lastBlock.root);
  const tally = { entrants: size, scoredPlayers: size, scoredAttempts: size };
  const statement = composeSealStatement({ round: ROUND, tally, leaves: size, root: end.root, settledAt: SETTLED_AT });

  function sealOf(index: number) {
    const start = Math.floor(index / BLOCK_LEAVES) * BLOCK_LEAVES;
    const block = leaves.slice(start, start + BLOCK_LEAVES);
    const signed = SIGNER.sign(statement);
    return {
      statement: JSON.parse(signed.canonical) as SealStatement,
      signature: signed.signature.toString('base64'),
      public_key: SIGNER.publicKey.toString('base64'),
      leaf: JSON.parse(leaves[index] ?? '') as SealLeaf,
      leaf_index: index,
      proof: proveInclusion({ index, leaves: size, block, blockRoots }).map((hash) => hash.toString('hex')),
    };
  }

  it('a sealed round proves offline that it counted a receipt', async () => {
    for (const index of [0, 1, 511, 1_023, 1_024, 1_025]) {
      const seal = sealOf(index);
      const verdictOn = (at: number) => {
        const { receipt } = outcomes[at] ?? expect.fail('no outcome');
        return verdictOnReceipt({ ...receipt, publicKey: SIGNER.publicKey, seal });
      };
      const verdict = await verdictOn(index);
      expect(verdict.kind === 'valid' ? verdict.counted?.seal : verdict.reason).toEqual(seal);
      expect(await verdictOn((index + 1) % size)).toEqual({
        kind: 'not_valid',
        reason: 'the receipt is genuine, but the leaf belongs to another receipt',
      });
    }
    expect(parseAmount(sealOf(0).leaf.payout_amount)).toBe(10_000n);
  });
});
