/** The stage sampler shows attempts, refunds and awards that are held up, and no others. */
import { attemptStages } from '@laurel/attempts';
import { measureStages, measureStagesByEnvironment } from '@laurel/testing';
import { expect, test } from 'vitest';
import { HOUR_MS, recorded, useHarness } from './challenge.fixture.ts';

const h = useHarness();
const GRACE_MS = 60_000;

const stages = attemptStages({ awards: 'awards', pendingGraceMs: GRACE_MS, attemptTtlMs: HOUR_MS });
const measure = () => measureStages(h.database, stages, h.clock());

test('a pending attempt is measured after its grace, and an open one after its deadline', async () => {
  await h.pendingAttempt();
  h.clock.advance(GRACE_MS - 1);
  expect(await measure()).toEqual({});
  h.clock.advance(1);
  expect(await measure()).toEqual({ attempt_pending: [1, 60] });
  // Nothing is counted in live, because these attempts are in the sandbox.
  expect(await measureStagesByEnvironment(h.database, stages, h.clock())).toEqual({
    live: {},
    test: { attempt_pending: [1, 60] },
  });

  // One of the two overdue attempts is the earlier attempt of the same player.
  h.clock.advance(HOUR_MS);
  expect(await measure()).toEqual({ attempt_pending: [1, 3_660], attempt_overdue: [2, 60] });
  await h.server.sweepOnce();
  expect(await measure()).toEqual({});
});

test('a refund that the wallet cannot post is measured from the end of its attempt', async () => {
  await h.openAttempt();
  await h.stopWallet();
  h.clock.advance(HOUR_MS + 1_000);
  await expect(h.server.sweepOnce()).rejects.toThrow();
  h.clock.advance(30_000);
  expect(await measure()).toEqual({ refund_due: [1, 30] });
  await h.startWallet();
  await h.server.sweepOnce();
  expect(await measure()).toEqual({});
});

test('an award that the wallet cannot pay is measured from its win', async () => {
  const { attempt } = await h.openAttempt();
  await h.stopWallet();
  await h.report(attempt.id, 150);
  h.clock.advance(90_000);
  expect(await measure()).toEqual({ award_paying: [1, 90] });
  await h.startWallet();
  await h.server.sweepOnce();
  expect(await measure()).toEqual({});
});

test('a decision that the wallet has not answered is counted without an age', async () => {
  const { attempt } = await h.openAttempt();
  recorded(await h.report(attempt.id, 150));
  await h.server.sweepOnce();
  await h.database.query({ text: "update awards set status = 'releasing', paid_at = null where attempt_id = $1" }, [
    attempt.id,
  ]);
  expect(await measure()).toEqual({ award_releasing: [1, 0] });
  // The wallet has paid the award, and the sweeper records the payout again.
  h.clock.advance(10_000);
  await h.server.sweepOnce();
  expect(await measure()).toEqual({});
});
