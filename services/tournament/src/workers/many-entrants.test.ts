/** A round of thousands, through the whole service and the wallet. */
import { cents } from '@laurel/money';
import { RoundStatus } from '@laurel/proto/tournament';
import { verifySeal } from '@laurel/signature';
import { ok } from '@laurel/testing';
import { expect, it, vi } from 'vitest';
import { receiptOf, tableOf } from '../rounds.fixture.ts';
import { created, FEE, PROGRAM, recorded, TRUSTED, useHarness } from '../tournament.fixture.ts';

// Entering thousands of players is slow, and so is the audit of all their money at the end.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const h = useHarness();

const ENTRANTS = 5_000;
const PAID_RANKS = 500;
const BATCH = 200;
const TIME_LIMIT_MS = 15_000;

const scoreOf = (index: number) => (index * 7_919) % 10_007;

it('a round of 5,000 entrants settles within seconds, each at its rank, and each receipt under the seal', async () => {
  const purse = Array.from({ length: PAID_RANKS }, (_, index) => cents(BigInt(1_000 - index)));
  const round = await h.openRound({ purse });
  const refs = Array.from({ length: ENTRANTS }, (_, index) => `player-${index}`);
  const receiptIds: string[] = [];
  for (let from = 0; from < ENTRANTS; from += BATCH) {
    const batch = refs.slice(from, from + BATCH);
    const players = batch.map((playerRef) => ({ tenant: PROGRAM, playerRef }));
    await Promise.all(players.map((player) => h.wallet.putSandboxPlayer({ player, fundsCents: FEE }).then(ok)));
    const attempts = await Promise.all(batch.map(async (ref) => created(await h.create(round.id, ref))));
    const outcomes = attempts.map(async ({ id }, index) => recorded(await h.report(id, scoreOf(from + index))));
    receiptIds.push(...(await Promise.all(outcomes)).map(({ receiptId }) => receiptId));
  }

  const startedAt = performance.now();
  const { round: closed } = ok(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
  expect(performance.now() - startedAt).toBeLessThan(TIME_LIMIT_MS);
  expect(closed).toMatchObject({ status: RoundStatus.SETTLED, entrantCount: ENTRANTS });

  // One for each outcome and one for the round, however many purses it paid.
  const [outbox] = await h.database.query({ text: 'select count(*)::int as events from outbox' });
  expect(outbox).toEqual({ events: ENTRANTS + 1 });

  const ranking = refs
    .map((ref, index) => ({ ref, score: scoreOf(index), receiptId: receiptIds[index] ?? '' }))
    .toSorted((one, other) => other.score - one.score);
  const table = await tableOf(h, round.id);
  expect(table.map((row) => [row.playerRef, row.finalRank, row.payoutCents])).toEqual(
    ranking.map(({ ref }, index) => [ref, BigInt(index + 1), purse[index] ?? 0n]),
  );
  // Blocks of the tree have 1,024 leaves: both sides of each border, and the ends.
  for (const index of [0, 1_023, 1_024, 2_047, 2_048, 4_095, 4_096, ENTRANTS - 1]) {
    const { canonical, seal } = await receiptOf(h, ranking[index]?.receiptId ?? '');
    expect(verifySeal(canonical, seal, TRUSTED)).toMatchObject({
      kind: 'counted',
      seal: { leaf_index: index, leaf: { final_rank: index + 1, player_ref: ranking[index]?.ref } },
    });
  }
});
