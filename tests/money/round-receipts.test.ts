import type { Outcome, Round } from '@laurel/sdk';
import type { ReceiptBody, SealBody } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, fullBoard, joinWorld, type Player, type SharedWorld, WITH_TIEBREAK } from '../world.ts';
import { createForger, createReceiptVerifier } from './verify-receipt.ts';

describe('receipts of a round', () => {
  let world: SharedWorld;
  const verifier = createReceiptVerifier();
  const { verify } = verifier;
  let keys: readonly string[];
  beforeAll(async () => {
    world = await joinWorld();
    keys = await verifier.saveKeys(world.http);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    verifier[Symbol.dispose]();
  });

  async function receiptOf({ receipt_id }: Outcome): Promise<ReceiptBody> {
    return expectStatus(200, await world.operator.getReceipt(receipt_id)).body;
  }

  function sealOf({ seal }: ReceiptBody): SealBody {
    return seal ?? expect.fail('a receipt without the seal of its round');
  }

  async function close(round: Round): Promise<Round> {
    return expectStatus(200, await world.partner.closeRound(round.id)).body;
  }

  /**
   * Plays a round of three players with two runs each, the second better for all but the last
   * player; and one player without a score.
   */
  async function playRound(): Promise<{ round: Round; players: Player[]; outcomes: Outcome[] }> {
    const round = await world.newRound({
      ...WITH_TIEBREAK,
      purse_table: [
        { rank: 1, amount: '7.50' },
        { rank: 2, amount: '0.01' },
      ],
    });
    const players = await Promise.all([world.newPlayer(), world.newPlayer(), world.newPlayer()]);
    const outcomes: Outcome[] = [];
    for (const [index, player] of players.entries()) {
      outcomes.push(await world.playRound(round.id, player, 50 - index, 3));
      outcomes.push(await world.playRound(round.id, player, index === 2 ? 10 : 90 - index, 3));
    }
    const silent = await world.newPlayer();
    expectStatus(201, await world.partner.createAttempt({ tournament_round_id: round.id, player_ref: silent.ref }));
    return { round, players, outcomes };
  }

  test('receipts of a running round verify offline, without a seal', async () => {
    const { outcomes } = await playRound();
    const receipt = await receiptOf(outcomes[0] as Outcome);
    expect(receipt.seal).toBeUndefined();
    expect((await verify(receipt, ...keys)).code).toBe(0);
  });

  test('receipts of a settled round verify offline with the seal of the round', async () => {
    const { round, players, outcomes } = await playRound();
    const closed = await close(round);
    expect(closed.status).toBe('settled');
    const receipts = await Promise.all(outcomes.map(receiptOf));
    const verdicts = await Promise.all(
      receipts.map((receipt) => verify(receipt, '--public-key', receipts[0]?.public_key ?? '')),
    );
    for (const { code, output } of verdicts) {
      expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('counted in round') });
    }

    const seals = receipts.map(sealOf);
    const statement = seals[0]?.statement;
    expect(statement).toMatchObject({
      round_id: round.id,
      tournament_id: round.tournament_id,
      program_id: world.program.id,
      environment: 'test',
      purse_amount: '7.51',
      // The fourth player's only attempt was open at the close.
      entrant_count: 3,
      scored_players: 3,
      leaves: 6,
      settled_at: closed.settled_at,
    });
    for (const seal of seals) expect(seal.statement).toEqual(statement);
    expect(seals.map((seal) => seal.leaf_index).sort()).toEqual([0, 1, 2, 3, 4, 5]);
    const leaves = seals.toSorted((one, other) => one.leaf_index - other.leaf_index).map((seal) => seal.leaf);
    expect(leaves.map((leaf) => leaf.final_rank)).toEqual([1, 1, 2, 2, 3, 3]);
    const board = fullBoard(await world.partner.getLeaderboard(round.id, players[0]?.ref));
    const best = leaves.filter((leaf) => leaf.best);
    expect(best.map((leaf) => [leaf.final_rank, leaf.player_ref, leaf.score, leaf.payout_amount])).toEqual(
      board.data.map((row) => [row.final_rank, row.player_ref, row.best_score, row.payout_amount]),
    );
    for (const [index, { receipt }] of receipts.entries()) {
      expect(seals[index]?.leaf).toMatchObject({
        round_id: round.id,
        attempt_id: receipt.attempt_id,
        receipt_id: receipt.receipt_id,
        player_ref: receipt.player_ref,
        score: receipt.score,
        tiebreak: 3,
      });
    }
  });

  test('receipts of a settled round do not verify with a forged seal', async () => {
    const { round, outcomes } = await playRound();
    await close(round);
    const other = await playRound();
    await close(other.round);
    // The last player's own run: third, unpaid.
    const receipt = await receiptOf(outcomes[4] as Outcome);
    const seal = sealOf(receipt);
    const winner = sealOf(await receiptOf(outcomes[1] as Outcome));
    const elsewhere = sealOf(await receiptOf(other.outcomes[4] as Outcome));
    const { leaf, statement, proof } = seal;
    expect(leaf).toMatchObject({ best: true, final_rank: 3, payout_amount: '0.00' });
    const forger = createForger();
    const { key_id: _, ...unnamed } = statement as Record<string, unknown>;
    const forgeries: Record<string, unknown> = {
      'the signature of somebody else': { ...seal, ...forger.sign(statement) },
      'the signature of somebody else who names no key': { ...seal, statement: unnamed, ...forger.sign(unnamed) },
      'a better rank': { ...seal, leaf: { ...leaf, final_rank: 1 } },
      'a higher payout': { ...seal, leaf: { ...leaf, payout_amount: '7.50' } },
      'a better score': { ...seal, leaf: { ...leaf, score: 1000 } },
      'one more word': { ...seal, leaf: { ...leaf, extra: true } },
      'another run': { ...seal, leaf: { ...leaf, best: false } },
      'another index in the tree': { ...seal, leaf_index: (seal.leaf_index + 1) % 6 },
      'a shorter way': { ...seal, proof: proof.slice(1) },
      'another way': {
        ...seal,
        proof: proof.map((hash) => hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))),
      },
      'the winner’s leaf': winner,
      'the seal of another round': elsewhere,
      'the statement of another round': { ...seal, statement: elsewhere.statement, signature: elsewhere.signature },
      'another root': { ...seal, statement: { ...statement, root: elsewhere.statement.root } },
      'a smaller tree': { ...seal, statement: { ...statement, leaves: 5 } },
      'no signature': { ...seal, signature: '' },
      'nothing in it': {},
    };
    await Promise.all(
      Object.entries(forgeries).map(async ([what, forged]) => {
        const { code, output } = await verify({ ...receipt, seal: forged }, ...keys);
        expect({ what, code, output }).toEqual({ what, code: 1, output: expect.stringContaining('NOT VALID') });
      }),
    );
    expect((await verify(receipt, ...keys)).code).toBe(0);
    expect((await verify(receipt, '--public-key', createForger().publicKey)).code).toBe(1);
  });

  test('receipts of a cancelled round have no seal', async () => {
    const round = await world.newRound({ min_entrants: 2 });
    const outcome = await world.playRound(round.id, await world.newPlayer(), 5);
    expect((await close(round)).status).toBe('cancelled');
    const receipt = await receiptOf(outcome);
    expect(receipt.seal).toBeUndefined();
    expect((await verify(receipt, ...keys)).code).toBe(0);
  });

  test('the audit finds no violation after receipts of rounds', () => world.expectAuditOk());
});
