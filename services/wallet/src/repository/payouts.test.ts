import { Environment } from '@laurel/proto/common';
import { PayoutStatus } from '@laurel/proto/wallet';
import { measureStages } from '@laurel/testing';
import { expect, test } from 'vitest';
import { addPlayer, awardOf, ok, useTestWallet } from '../wallet.fixture.ts';
import { HELD_PAYOUTS } from './payouts.ts';

const wallet = useTestWallet();
const measure = () => measureStages(wallet.database, [HELD_PAYOUTS], wallet.clock.now);

test('held payouts are measured since the oldest was held, until an operator decides', async () => {
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
