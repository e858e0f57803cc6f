/** What the stage sampler shows of a round that cannot be ended. */
import { attemptStages } from '@laurel/attempts';
import { measureStages, measureStagesByEnvironment } from '@laurel/testing';
import { expect, test } from 'vitest';
import { ROUND_STAGES } from './repository/round-stages.ts';
import { play } from './rounds.fixture.ts';
import { HOUR_MS, useHarness } from './tournament.fixture.ts';

const h = useHarness();
const stages = [
  ...attemptStages({ awards: 'round_payouts', pendingGraceMs: 60_000, attemptTtlMs: HOUR_MS }),
  ROUND_STAGES,
];
const measure = () => measureStages(h.database, stages, h.clock());

test('a round that is over is measured by its stage until its purse is paid', async () => {
  const round = await h.openRound();
  const [first, second] = [await h.player(), await h.player()];
  await play(h, round.id, first, 2);
  await play(h, round.id, second, 1);
  h.clock.advance(2 * HOUR_MS - 1);
  expect(await measure()).toEqual({});
  h.clock.advance(60_001);
  expect(await measure()).toEqual({ round_closing: [1, 60] });

  await h.stopWallet();
  await expect(h.server.sweepOnce()).rejects.toThrow();
  h.clock.advance(30_000);
  expect(await measure()).toEqual({ round_settling: [1, 90], award_paying: [2, 30] });
  expect((await measureStagesByEnvironment(h.database, stages, h.clock())).live).toEqual({});

  await h.startWallet();
  await h.server.sweepOnce();
  expect(await measure()).toEqual({});
});

test('a cancelled round is measured until its fees are refunded', async () => {
  const round = await h.openRound({ minEntrants: 2 });
  await play(h, round.id, await h.player(), 1);
  h.clock.advance(2 * HOUR_MS + 5_000);
  await h.stopWallet();
  await expect(h.server.sweepOnce()).rejects.toThrow();
  expect(await measure()).toEqual({ round_cancelling: [1, 5], refund_due: [1, 0] });
  expect((await measureStagesByEnvironment(h.database, stages, h.clock())).live).toEqual({});
  await h.startWallet();
  await h.server.sweepOnce();
  expect(await measure()).toEqual({});
});
