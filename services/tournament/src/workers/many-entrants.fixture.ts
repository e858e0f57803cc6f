/** A round of many entrants, through the whole service and the wallet. */

import { RoundStatus } from '@laurel/proto/tournament';
import { expectAccepted } from '@laurel/testing';
import { cents } from '@laurel/values/money';
import { expect } from 'vitest';
import { countedBy, receiptOf, tableOf } from '../rounds.fixture.ts';
import { created, FEE, type Harness, PROGRAM, recorded } from '../tournament.fixture.ts';

const BATCH = 200;
const TIME_LIMIT_MS = 15_000;

const scoreOf = (index: number) => (index * 7_919) % 10_007;

/**
 * Expects each entrant at its rank, one in ten paid, and the seal to prove the receipts at these
 * places of the ranking.
 */
export async function expectSettled(h: Harness, entrants: number, proven: readonly number[]): Promise<void> {
  const purse = Array.from({ length: entrants / 10 }, (_, index) => cents(BigInt(1_000 - index)));
  const round = await h.openRound({ purse });
  const refs = Array.from({ length: entrants }, (_, index) => `player-${index}`);
  const receiptIds: string[] = [];
  for (let from = 0; from < entrants; from += BATCH) {
    const batch = refs.slice(from, from + BATCH);
    const players = batch.map((playerRef) => ({ tenant: PROGRAM, playerRef }));
    await Promise.all(
      players.map((player) => h.wallet.putSandboxPlayer({ player, fundsCents: FEE }).then(expectAccepted)),
    );
    const attempts = await Promise.all(batch.map(async (ref) => created(await h.create(round.id, ref))));
    const outcomes = attempts.map(async ({ id }, index) => recorded(await h.report(id, scoreOf(from + index))));
    receiptIds.push(...(await Promise.all(outcomes)).map(({ receiptId }) => receiptId));
  }

  const startedAt = performance.now();
  const { round: closed } = expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
  expect(performance.now() - startedAt).toBeLessThan(TIME_LIMIT_MS);
  expect(closed).toMatchObject({ status: RoundStatus.SETTLED, entrantCount: entrants });

  // One event for each outcome and one for the round, however many purses it paid.
  const [outbox] = await h.database.query({ text: 'select count(*)::int as events from outbox' });
  expect(outbox).toEqual({ events: entrants + 1 });

  const ranking = refs
    .map((ref, index) => ({ ref, score: scoreOf(index), receiptId: receiptIds[index] ?? '' }))
    .toSorted((one, other) => other.score - one.score);
  const table = await tableOf(h, round.id);
  expect(table.map((row) => [row.playerRef, row.finalRank, row.payoutCents])).toEqual(
    ranking.map(({ ref }, index) => [ref, BigInt(index + 1), purse[index] ?? 0n]),
  );
  for (const index of proven) {
    const receipt = await receiptOf(h, ranking[index]?.receiptId ?? '');
    expect(await countedBy(receipt, receipt.seal)).toMatchObject({
      leaf_index: index,
      leaf: { final_rank: index + 1, player_ref: ranking[index]?.ref },
    });
  }
}
