import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadRefundsOfRound, refundQueue } from './refunds.ts';
import { type Harness, NOW, playersOf, startHarness, TENANT } from './repository.fixture.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h[Symbol.asyncDispose]());

/** Attempts of one round whose fees are due for refund, in the order of their ids. */
async function due(environment: 'live' | 'test', since: Date, count: number) {
  const round = await h.openRound({}, { ...TENANT, environment });
  const ids = (await h.enter(round, playersOf(count))).map(({ id }) => id).sort();
  await h.database.transaction(async (tx) => {
    for (const attemptId of ids) await refundQueue.insert(tx, { attemptId, reason: 'round_closed', since });
  });
  return { round, ids };
}

test('refunds of real money come before older refunds of play money', async () => {
  const long = new Date(NOW.getTime() - 60_000);
  const ofTest = await due('test', long, 30);
  const ofLive = await due('live', NOW, 2);
  const olderOfLive = await due('live', long, 1);
  const found = await refundQueue.loadNext(h.database, 5);
  expect(found.map(({ id, environment }) => [id, environment])).toEqual([
    ...[...olderOfLive.ids, ...ofLive.ids].map((id) => [id, 'live']),
    ...ofTest.ids.slice(0, 2).map((id) => [id, 'test']),
  ]);
  const ofRound = await loadRefundsOfRound(h.database, ofLive.round.id, null, 10);
  expect(ofRound.map(({ id, environment }) => [id, environment])).toEqual(ofLive.ids.map((id) => [id, 'live']));
});
