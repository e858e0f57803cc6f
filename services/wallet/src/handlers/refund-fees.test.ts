import { Environment } from '@laurel/proto/common';
import { metrics } from '@laurel/telemetry';
import { newId } from '@laurel/values/ids';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  addPlayer,
  balanceOf,
  charge,
  chargeOf,
  ok,
  queryOf,
  useTestWallet,
  type WalletClient,
} from '../wallet.fixture.ts';

const wallet = useTestWallet();
let replica: WalletClient;

beforeAll(async () => {
  replica = await wallet.startReplica();
});

/** The number of transactions of this kind, and of their items. */
async function sizesOf(batch: string) {
  const text = await metrics.metrics();
  const read = (name: string) =>
    Number(
      new RegExp(`^laurel_wallet_batch_items_${name}\\{.*batch="${batch}".*\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
    );
  return { batches: read('count'), items: read('sum') };
}

const refundOf = (feeTransferId: string, reason = 'expired') => ({ refunds: [{ feeTransferId, reason }] });

describe('refunding a fee', () => {
  it('a fee is refunded once, however often the refund is requested', async () => {
    const player = await addPlayer(wallet, { balanceCents: 5_00n });
    const fee = chargeOf(player, 2_00n);
    await charge(wallet.client, fee);
    const first = await ok(wallet.client.refundFees(refundOf(fee.transferId)));
    expect(first).toEqual({ results: [{ refunded: true, refundedAt: wallet.clock.now }] });
    wallet.clock.advance(1_000);
    expect(await ok(replica.refundFees(refundOf(fee.transferId, 'voided')))).toEqual(first);
    expect(await balanceOf(wallet, player)).toBe(5_00n);
  });

  it('a fee is refunded to the account that paid, even if the ref now names another account', async () => {
    const [payer, heir] = [await addPlayer(wallet, { balanceCents: 5_00n }), await addPlayer(wallet)];
    const fee = chargeOf(payer, 2_00n);
    await charge(wallet.client, fee);
    await ok(wallet.client.putPlayerLink({ player: payer.player, email: heir.email }));
    await ok(wallet.client.refundFees(refundOf(fee.transferId)));
    expect([await balanceOf(wallet, payer), await balanceOf(wallet, heir)]).toEqual([5_00n, 0n]);
  });

  it('a refund of a fee that was refused, abandoned or never charged writes nothing', async () => {
    const player = await addPlayer(wallet);
    const refused = chargeOf(player, 2_00n);
    await charge(wallet.client, refused);
    const abandoned = chargeOf(player, 1n);
    await ok(wallet.client.resolveFees({ queries: [queryOf(abandoned, true)] }));
    const refunds = [refused.transferId, abandoned.transferId, newId()].map((id) => ({
      feeTransferId: id,
      reason: 'expired',
    }));
    expect(await ok(wallet.client.refundFees({ refunds }))).toEqual({
      results: refunds.map(() => ({ refunded: false, refundedAt: undefined })),
    });
    expect(await balanceOf(wallet, player)).toBe(0n);
  });

  it('many fees of one player are refunded in one call', async () => {
    const player = await addPlayer(wallet, { balanceCents: 50_00n });
    const charges = Array.from({ length: 20 }, () => chargeOf(player, 1_00n));
    await ok(wallet.client.chargeFees({ charges }));
    const refunds = charges.map(({ transferId }) => ({ feeTransferId: transferId, reason: 'round_cancelled' }));
    const { results } = await ok(wallet.client.refundFees({ refunds }));
    expect(results.every((result) => result.refunded)).toBe(true);
    expect(await balanceOf(wallet, player)).toBe(50_00n);
  });

  it('concurrent refunds over two replicas return each fee once', async () => {
    const player = await addPlayer(wallet, { balanceCents: 50_00n });
    const charges = Array.from({ length: 20 }, () => chargeOf(player, 1_00n));
    await ok(wallet.client.chargeFees({ charges }));
    const refunds = charges.map(({ transferId }) => ({ feeTransferId: transferId, reason: 'expired' }));
    const calls = Array.from({ length: 8 }, (_, index) =>
      ok((index % 2 === 0 ? wallet.client : replica).refundFees({ refunds })),
    );
    const [first, ...others] = await Promise.all(calls);
    for (const other of others) expect(other).toEqual(first);
    expect(await balanceOf(wallet, player)).toBe(50_00n);
  });

  it('live and test items of one call are batched separately', async () => {
    const { LIVE, TEST } = Environment;
    const items = [LIVE, TEST, undefined, TEST].map((environment) => ({ fee: newId(), environment }));
    const refunds = items.map(({ fee, environment }) => ({ feeTransferId: fee, reason: 'expired', environment }));
    const before = await Promise.all(['refund_fees', 'resolve_fees'].map(sizesOf));
    await ok(wallet.client.refundFees({ refunds }));
    const queries = items.map(({ fee: transferId, environment }) => ({
      transferId,
      attemptId: '',
      feeGeneration: 0,
      tombstoneIfAbsent: false,
      environment,
    }));
    await ok(wallet.client.resolveFees({ queries }));
    const after = await Promise.all(['refund_fees', 'resolve_fees'].map(sizesOf));
    expect(after.map(({ batches }, index) => batches - (before[index]?.batches ?? 0))).toEqual([2, 2]);
    expect(after.map(({ items: sum }, index) => sum - (before[index]?.items ?? 0))).toEqual([4, 4]);
  });

  it('a refund with an unknown reason fails', async () => {
    await expect(wallet.client.refundFees(refundOf(newId(), 'because'))).rejects.toThrow();
  });
});
