import { Environment } from '@laurel/proto/common';
import { PayoutStatus } from '@laurel/proto/wallet';
import { measureStages } from '@laurel/testing';
import { expect, test } from 'vitest';
import { addPlayer, awardOf, ok, useTestWallet } from '../wallet.fixture.ts';
import { HELD_PAYOUTS, recentPayoutsSql } from './payouts.ts';
import { recentProgramPayoutsSql } from './program-limits.ts';

const wallet = useTestWallet();
const measure = () => measureStages(wallet.database, [HELD_PAYOUTS], wallet.clock.now);

test('the age of held payouts is the age of the oldest payout that still waits for an operator', async () => {
  expect(await measure()).toEqual({});
  const player = await addPlayer(wallet);
  const [first, second] = [awardOf(player, 500_01n), awardOf(player, 500_01n)];
  await ok(wallet.client.payAwards({ payments: [first] }));
  wallet.clock.advance(3_600_000);
  await ok(wallet.client.payAwards({ payments: [second] }));
  wallet.clock.advance(60_000);
  expect(await measure()).toEqual({ payout_held: [2, 3_660] });
  await ok(wallet.client.releasePayout(first));
  expect(await measure()).toEqual({ payout_held: [1, 60] });
  await ok(wallet.client.denyPayout(second));
  expect(await measure()).toEqual({});
});

test('held payouts of play money are not measured, because no operator reviews them', async () => {
  const player = await addPlayer(wallet, { environment: Environment.TEST });
  await ok(wallet.client.holdNextAward({ player: player.player }));
  const award = awardOf(player, 100n);
  const { payouts } = await ok(wallet.client.payAwards({ payments: [award] }));
  expect(payouts.map(({ status }) => status)).toEqual([PayoutStatus.HELD]);
  expect(await measure()).toEqual({});
});

// A hot statement keeps the plan of its first call. At that call the table may be empty, and on an
// empty table all indexes cost the same.
test.each([
  ['an account', ['payouts_velocity_idx'], recentPayoutsSql({ accountId: '$1::uuid', ...inWindow() })],
  [
    'a program',
    ['payouts_counted_idx', 'payouts_counted_idx', 'payouts_uncounted_idx'],
    recentProgramPayoutsSql({ programId: '$1::uuid', countCents: '$4::bigint', ...inWindow() }),
  ],
])('the recent payouts of %s are read by index, even by a plan made on an empty table', async (_, indexes, sum) => {
  const plan = await wallet.database.query<{ 'QUERY PLAN': string }>({ text: `explain (generic_plan) ${sum}` });
  const read = plan.flatMap((row) => /Index.* using (\w+)/.exec(row['QUERY PLAN'])?.[1] ?? []);
  expect(read).toEqual(indexes);
});

function inWindow() {
  return { environment: '$2::text', since: '$3::timestamptz' };
}
