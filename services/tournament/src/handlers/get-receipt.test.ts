/** Receipts, and the proof that the round counted them. Both can be checked offline. */

import type { SealStatement } from '@laurel/signature';
import { expectAccepted, type TestPlayer, verdictOnReceipt } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { countedBy, play, receiptOf, tableOf } from '../rounds.fixture.ts';
import { BY_SECONDS, HOUR_MS, PROGRAM, useHarness } from '../tournament.fixture.ts';

const h = useHarness();

const close = async (roundId: string) => expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId }));

describe('a receipt of a round', () => {
  it('a receipt of a running or cancelled round is signed and has no seal', async () => {
    const round = await h.openRound({ minEntrants: 2 });
    const receiptId = await play(h, round.id, await h.player(), 5, { evidence: '{"replay":[1,2]}' });
    const running = await receiptOf(h, receiptId);
    expect(await verdictOnReceipt(running)).toMatchObject({ kind: 'valid', counted: null });
    expect(JSON.parse(running.canonical)).toMatchObject({
      receipt_id: receiptId,
      score: 5,
      evidence: { replay: [1, 2] },
    });
    expect(running.seal).toBeNull();
    await close(round.id);
    expect(await receiptOf(h, receiptId)).toEqual(running);
    expect(await h.tournament.getReceipt({ receiptId: newId() })).toMatchObject({ code: 'not_found' });
  });

  it('a seal proves that every receipt of the round was counted, with its rank and payout', async () => {
    const round = await h.openRound({ ...BY_SECONDS, attemptCap: 4 });
    const players = await Promise.all(Array.from({ length: 12 }, () => h.player()));
    const receipts: { readonly id: string; readonly player: TestPlayer; readonly score: number }[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      for (const [index, player] of players.entries()) {
        if ((index + turn) % 3 === 0) continue;
        const score = ((index * 7 + turn * 5) % 11) - 4.5;
        receipts.push({ id: await play(h, round.id, player, score, { tiebreak: index % 2 }), player, score });
        h.clock.advance(1);
      }
    }
    await close(round.id);

    const table = await tableOf(h, round.id);
    const indexes: number[] = [];
    const statements = new Set<string>();
    let best = 0;
    for (const { id, player, score } of receipts) {
      const receipt = await receiptOf(h, id);
      const { leaf, leaf_index: index, statement } = await countedBy(receipt, receipt.seal);
      const row = table.find(({ playerRef }) => playerRef === player.ref);
      expect(leaf).toMatchObject({
        receipt_id: id,
        player_ref: player.ref,
        score,
        best: score === row?.bestScore,
        final_rank: Number(row?.finalRank),
        payout_amount: `${(row?.payoutCents ?? 0n) / 100n}.00`,
      });
      if (leaf.best) best += 1;
      indexes.push(index);
      statements.add(JSON.stringify(statement));
    }
    expect(best).toBe(table.length);
    expect(indexes.toSorted((one, other) => one - other)).toEqual(receipts.map((_, index) => index));
    expect(statements.size).toBe(1);
    const [statement] = statements;
    expect(JSON.parse(statement ?? '') as SealStatement).toMatchObject({
      round_id: round.id,
      round_number: 1,
      tournament_id: round.tournamentId,
      environment: 'test',
      leaves: receipts.length,
      scored_players: players.length,
      entrant_count: players.length,
      purse_amount: '200.00',
      closes_at: h.clock().toISOString(),
      settled_at: h.clock().toISOString(),
    });
  });

  it('a receipt is not proven by the seal of another receipt or by a changed leaf', async () => {
    const round = await h.openRound();
    const first = await play(h, round.id, await h.player(), 1);
    const second = await play(h, round.id, await h.player(), 2);
    h.clock.advance(2 * HOUR_MS);
    await h.server.sweepOnce();
    const [one, other] = [await receiptOf(h, first), await receiptOf(h, second)];
    expect(await countedBy(one, one.seal)).toEqual(one.seal);
    await expect(countedBy(one, other.seal)).rejects.toThrow('the leaf belongs to another receipt');
    const promoted = { ...one.seal, leaf: { ...one.seal?.leaf, final_rank: 1 } };
    await expect(countedBy(one, promoted)).rejects.toThrow('the leaf does not lie under the sealed root');
  });
});
