import { Environment } from '@laurel/proto/common';
import { type AwardPayment, type Payout, PayoutStatus } from '@laurel/proto/wallet';
import { awardTransferId, contestServiceOf, newId, newOwnedId } from '@laurel/values/ids';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  addPlayer,
  awardOf,
  balanceOf,
  ok,
  purseOf,
  refusalOf,
  type TestPlayer,
  useTestWallet,
  type WalletClient,
} from '../wallet.fixture.ts';

const HOUR_MS = 60 * 60 * 1000;

const wallet = useTestWallet();
let replica: WalletClient;

beforeAll(async () => {
  replica = await wallet.startReplica();
});

async function pay(player: TestPlayer, amountCents: bigint): Promise<Payout> {
  return await payAgain(awardOf(player, amountCents));
}

async function payAgain(payment: ReturnType<typeof awardOf>, client = wallet.client): Promise<Payout> {
  const { payouts } = await ok(client.payAwards({ payments: [payment] }));
  if (payouts[0] === undefined) throw new Error('no payout was answered');
  return payouts[0];
}

function change(player: TestPlayer, fields: { enforcementFlag?: boolean; underInvestigation?: boolean }) {
  return ok(wallet.client.updateAccount({ accountId: player.accountId, clearSelfExclusion: false, ...fields }));
}

describe('paying an award', () => {
  it('a repeated award moves the prize once, even to a player without a row of the ledger', async () => {
    const player = await addPlayer(wallet);
    const payment = awardOf(player, 25_00n);
    const paid = await payAgain(payment);
    expect(paid).toEqual({
      ...payment,
      roundId: '',
      status: PayoutStatus.PAID,
      reason: '',
      createdAt: wallet.clock.now,
      paidAt: wallet.clock.now,
    });
    wallet.clock.advance(1_000);
    expect(await payAgain(payment, replica)).toEqual(paid);
    expect(await ok(wallet.client.getPayout({ awardId: payment.awardId }))).toEqual({ payout: paid });
    expect(await balanceOf(wallet, player)).toBe(25_00n);
  });

  it('an award of a flagged or investigated account is held and moves nothing', async () => {
    for (const [fields, reason] of [
      [{ enforcementFlag: true }, 'enforcement_flag'],
      [{ underInvestigation: true }, 'under_investigation'],
    ] as const) {
      const player = await addPlayer(wallet);
      await change(player, fields);
      const payment = awardOf(player, 1_00n);
      const held = await payAgain(payment);
      expect(held).toMatchObject({ status: PayoutStatus.HELD, reason, paidAt: undefined });
      // The award was decided once: clearing the flag does not pay it.
      await change(player, { enforcementFlag: false, underInvestigation: false });
      expect(await payAgain(payment)).toEqual(held);
      expect(await balanceOf(wallet, player)).toBe(0n);
    }
  });

  it('an award that the contest service holds stays held when it is repeated without the reason', async () => {
    const player = await addPlayer(wallet);
    const payment = awardOf(player, 1_00n);
    const held = await payAgain({ ...payment, holdReason: 'challenge_suspended' });
    expect(held).toMatchObject({ status: PayoutStatus.HELD, reason: 'challenge_suspended', paidAt: undefined });
    expect(await payAgain(payment, replica)).toEqual(held);
    expect(await balanceOf(wallet, player)).toBe(0n);
    // Another win of the player is paid, and a later hold does not affect it.
    const other = awardOf(player, 2_00n);
    const paid = await payAgain(other);
    expect(paid).toMatchObject({ status: PayoutStatus.PAID });
    expect(await payAgain({ ...other, holdReason: 'challenge_suspended' })).toEqual(paid);
    expect(await balanceOf(wallet, player)).toBe(2_00n);
    await expect(payAgain({ ...awardOf(player, 1_00n), holdReason: 'a whim' })).rejects.toThrow();
  });

  it('the sixth payout within a rolling 24 hours is held', async () => {
    const player = await addPlayer(wallet);
    for (let index = 0; index < 5; index += 1) {
      expect(await pay(player, 1_00n)).toMatchObject({ status: PayoutStatus.PAID });
      wallet.clock.advance(HOUR_MS);
    }
    expect(await pay(player, 1_00n)).toMatchObject({ status: PayoutStatus.HELD, reason: 'payout_velocity' });
    wallet.clock.advance(19 * HOUR_MS - 1);
    expect(await pay(player, 1_00n)).toMatchObject({ status: PayoutStatus.HELD });
    wallet.clock.advance(1);
    expect(await pay(player, 1_00n)).toMatchObject({ status: PayoutStatus.PAID });
    expect(await pay(player, 1_00n)).toMatchObject({ status: PayoutStatus.HELD });
  });

  it('an award is held if it would take the payouts of 24 hours over 500.00', async () => {
    const player = await addPlayer(wallet);
    expect(await pay(player, 500_01n)).toMatchObject({ status: PayoutStatus.HELD, reason: 'payout_velocity' });
    expect(await pay(player, 400_00n)).toMatchObject({ status: PayoutStatus.PAID });
    expect(await pay(player, 100_01n)).toMatchObject({ status: PayoutStatus.HELD });
    expect(await pay(player, 100_00n)).toMatchObject({ status: PayoutStatus.PAID });
  });

  it('payout velocity is counted separately for live and for each program in test', async () => {
    const live = await addPlayer(wallet);
    expect(await pay(live, 500_00n)).toMatchObject({ status: PayoutStatus.PAID });
    const test = await addPlayer(wallet, { environment: Environment.TEST, email: live.email });
    expect(await pay(test, 500_00n)).toMatchObject({ status: PayoutStatus.PAID });
    const other = await addPlayer(wallet, { environment: Environment.TEST, email: live.email });
    expect(await pay(other, 500_00n)).toMatchObject({ status: PayoutStatus.PAID });
  });

  it('parallel awards over two replicas never exceed the payout velocity', async () => {
    const player = await addPlayer(wallet);
    const payments = Array.from({ length: 40 }, () => awardOf(player, 10_00n));
    const payouts = await Promise.all(
      payments.map((payment, index) => payAgain(payment, index % 2 === 0 ? wallet.client : replica)),
    );
    expect(payouts.filter((payout) => payout.status === PayoutStatus.PAID)).toHaveLength(5);
    expect(payouts.filter((payout) => payout.reason === 'payout_velocity')).toHaveLength(35);
    expect(await balanceOf(wallet, player)).toBe(50_00n);
  });

  it('parallel calls for one award pay its prize once', async () => {
    const player = await addPlayer(wallet);
    const payment = awardOf(player, 10_00n);
    const payouts = await Promise.all(
      Array.from({ length: 40 }, (_, index) => payAgain(payment, index % 2 === 0 ? wallet.client : replica)),
    );
    for (const payout of payouts) expect(payout).toEqual(payouts[0]);
    expect(await balanceOf(wallet, player)).toBe(10_00n);
  });

  it('an award of an unknown account fails without affecting other awards', async () => {
    const player = await addPlayer(wallet);
    const [bad, good] = await Promise.allSettled([
      payAgain({ ...awardOf(player, 1_00n), accountId: newId() }),
      pay(player, 1_00n),
    ]);
    expect(bad.status).toBe('rejected');
    expect(good).toMatchObject({ value: { status: PayoutStatus.PAID } });
  });
});

describe('paying a purse', () => {
  /** The purse's transfer in the wallet's tables. */
  async function transferOf(awardId: string): Promise<unknown> {
    const [row] = await wallet.database.query(
      {
        text: `select transfer.kind, transfer.round_id, transfer.attempt_id, transfer.amount_cents, house.kind as out_of
        from transfers as transfer join ledger_accounts as house on house.id = transfer.debit_id
        where transfer.award_id = $1 and transfer.id = $2`,
      },
      [awardId, awardTransferId(awardId)],
    );
    return row;
  }

  it('a purse moves once, from the house’s account for purses to the winner', async () => {
    const player = await addPlayer(wallet);
    const purse = purseOf(player, 25_00n);
    const paid = await payAgain(purse);
    expect(paid).toEqual({
      ...purse,
      status: PayoutStatus.PAID,
      reason: '',
      createdAt: wallet.clock.now,
      paidAt: wallet.clock.now,
    });
    wallet.clock.advance(1_000);
    expect(await payAgain(purse, replica)).toEqual(paid);
    expect(await ok(wallet.client.getPayout({ awardId: purse.awardId }))).toEqual({ payout: paid });
    expect(await balanceOf(wallet, player)).toBe(25_00n);
    expect(await transferOf(purse.awardId)).toEqual({
      kind: 'purse',
      round_id: purse.roundId,
      attempt_id: null,
      amount_cents: 25_00n,
      out_of: 'house_purses',
    });
  });

  it('a purse of a flagged or investigated account is held until it is released', async () => {
    for (const [fields, reason] of [
      [{ enforcementFlag: true }, 'enforcement_flag'],
      [{ underInvestigation: true }, 'under_investigation'],
    ] as const) {
      const player = await addPlayer(wallet);
      await change(player, fields);
      const purse = purseOf(player, 1_00n);
      const held = await payAgain(purse);
      expect(held).toMatchObject({ roundId: purse.roundId, status: PayoutStatus.HELD, reason, paidAt: undefined });
      expect(await transferOf(purse.awardId)).toBeUndefined();
      const { payouts } = await ok(wallet.client.listPayouts({ status: PayoutStatus.HELD, limit: 1, cursor: '' }));
      expect(payouts).toEqual([held]);

      wallet.clock.advance(1_000);
      const paid = { ...held, status: PayoutStatus.PAID, paidAt: wallet.clock.now };
      const { awardId } = purse;
      const releases = await Promise.all(
        [wallet.client, replica, wallet.client].map((client) => ok(client.releasePayout({ awardId }))),
      );
      for (const release of releases) expect(release).toEqual({ payout: paid });
      expect(await refusalOf(wallet.client.denyPayout({ awardId }))).toBe('conflict');
      expect(await balanceOf(wallet, player)).toBe(1_00n);
      expect(await transferOf(awardId)).toMatchObject({ kind: 'purse', out_of: 'house_purses' });
    }
  });

  it('a denied purse leaves its money in the house', async () => {
    const player = await addPlayer(wallet);
    await change(player, { underInvestigation: true });
    const held = await payAgain(purseOf(player, 1_00n));
    const { awardId } = held;
    const denied = { payout: { ...held, status: PayoutStatus.DENIED } };
    expect(await ok(wallet.client.denyPayout({ awardId }))).toEqual(denied);
    expect(await refusalOf(wallet.client.releasePayout({ awardId }))).toBe('conflict');
    expect(await balanceOf(wallet, player)).toBe(0n);
  });

  it('purses are never held on payout velocity, but count towards the velocity of awards', async () => {
    const often = await addPlayer(wallet);
    for (let index = 0; index < 7; index += 1) {
      expect(await payAgain(purseOf(often, 1_00n))).toMatchObject({ status: PayoutStatus.PAID });
    }
    expect(await pay(often, 1_00n)).toMatchObject({ status: PayoutStatus.HELD, reason: 'payout_velocity' });

    const rich = await addPlayer(wallet);
    expect(await payAgain(purseOf(rich, 10_000_00n))).toMatchObject({ status: PayoutStatus.PAID });
    expect(await pay(rich, 1n)).toMatchObject({ status: PayoutStatus.HELD, reason: 'payout_velocity' });
    wallet.clock.advance(24 * HOUR_MS);
    expect(await pay(rich, 1n)).toMatchObject({ status: PayoutStatus.PAID });
  });

  it('a purse and an award of the same amount are both paid to one player', async () => {
    const player = await addPlayer(wallet);
    const payments = [purseOf(player, 2_00n), awardOf(player, 2_00n)];
    const { payouts } = await ok(wallet.client.payAwards({ payments }));
    expect(payouts.map(({ attemptId, roundId }) => [attemptId, roundId])).toEqual([
      ['', payments[0]?.roundId],
      [payments[1]?.attemptId, ''],
    ]);
    expect(await balanceOf(wallet, player)).toBe(4_00n);
  });

  it('the 200 purses of one call are paid in one transaction', async () => {
    const players = await Promise.all(Array.from({ length: 200 }, () => addPlayer(wallet, { balanceCents: 1_00n })));
    const roundId = newId();
    const payments = players.map((player, rank) => purseOf(player, BigInt(1_000 - rank), roundId));
    const { payouts } = await ok(wallet.client.payAwards({ payments }));
    expect(payouts.map(({ awardId, status }) => [awardId, status])).toEqual(
      payments.map(({ awardId }) => [awardId, PayoutStatus.PAID]),
    );
    const [written] = await wallet.database.query(
      {
        text: `select count(*) as purses, sum(transfers.amount_cents)::bigint as cents,
            count(distinct transfers.xmin::text) as transactions, bool_and(transfers.xmin = payouts.xmin) as together
          from transfers join payouts on payouts.transfer_id = transfers.id where transfers.round_id = $1`,
      },
      [roundId],
    );
    expect(written).toEqual({ purses: 200n, cents: 180_100n, transactions: 1n, together: true });
  });

  it('a round that two replicas settle at the same time is paid once', async () => {
    const players = await Promise.all(Array.from({ length: 40 }, () => addPlayer(wallet)));
    const roundId = newId();
    const payments = players.map((player) => purseOf(player, 3_00n, roundId));
    const answers = await Promise.all(
      [wallet.client, replica, wallet.client, replica].map((client, index) =>
        ok(client.payAwards({ payments: index < 2 ? payments : [...payments].reverse() })),
      ),
    );
    const byAward = (payouts: readonly Payout[]) => new Map(payouts.map((payout) => [payout.awardId, payout]));
    for (const { payouts } of answers) expect(byAward(payouts)).toEqual(byAward(answers[0]?.payouts ?? []));
    expect(await Promise.all(players.map((player) => balanceOf(wallet, player)))).toEqual(players.map(() => 3_00n));
  });

  it('a payment for both an attempt and a round, or for neither, fails', async () => {
    const player = await addPlayer(wallet);
    await expect(payAgain({ ...awardOf(player, 1_00n), roundId: newId() })).rejects.toThrow();
    await expect(payAgain({ ...awardOf(player, 1_00n), attemptId: '' })).rejects.toThrow();
    expect(await balanceOf(wallet, player)).toBe(0n);
  });
});

describe('a payment under the id of another payout', () => {
  const rows = async (awardId: string) => [
    await wallet.database.query({ text: 'select * from payouts where award_id = $1' }, [awardId]),
    await wallet.database.query({ text: 'select * from transfers where award_id = $1' }, [awardId]),
  ];

  describe.each(['paid', 'held', 'denied'] as const)('the id of a payout that is %s', (status) => {
    const kinds = [
      ['award', awardOf],
      ['purse', purseOf],
    ] as const;
    it.each(kinds)(`a payment on other terms never returns the ${status} payout of the %s`, async (kind, of) => {
      const [player, other] = [await addPlayer(wallet, { balanceCents: 1_00n }), await addPlayer(wallet)];
      if (status !== 'paid') await change(player, { underInvestigation: true });
      const payment = of(player, 5_00n);
      const decided = await payAgain(payment);
      const { awardId, tenant } = payment;
      if (status === 'denied') await ok(wallet.client.denyPayout({ awardId }));
      const stored = await rows(awardId);
      const changes: Partial<AwardPayment>[] = [
        { amountCents: 5_01n },
        { amountCents: 4_99n },
        { accountId: other.accountId },
        { tenant: tenant && { ...tenant, programId: newId() } },
        kind === 'award' ? { attemptId: newOwnedId('challenge') } : { roundId: newId() },
        kind === 'award' ? { attemptId: '', roundId: newId() } : { roundId: '', attemptId: newOwnedId('tournament') },
      ];
      for (const [index, changed] of changes.entries()) {
        const again = { ...payment, ...changed };
        const answer = await payAgain(again, index % 2 === 0 ? wallet.client : replica);
        const undecided = { status: PayoutStatus.UNSPECIFIED, reason: '', createdAt: undefined, paidAt: undefined };
        expect(answer).toEqual({ ...again, roundId: again.roundId ?? '', ...undecided });
      }
      // No account has a row of the ledger in both environments.
      const elsewhere = { ...payment, tenant: tenant && { ...tenant, environment: Environment.TEST } };
      await expect(payAgain(elsewhere)).rejects.toThrow();

      expect(await rows(awardId)).toEqual(stored);
      expect(await balanceOf(wallet, player)).toBe(status === 'paid' ? 6_00n : 1_00n);
      expect(await balanceOf(wallet, other)).toBe(0n);
      expect(await payAgain(payment)).toEqual({
        ...decided,
        status: { paid: PayoutStatus.PAID, held: PayoutStatus.HELD, denied: PayoutStatus.DENIED }[status],
      });
    });
  });

  it('a payment on other terms fails alone among the 200 payments of a call', async () => {
    const players = await Promise.all(Array.from({ length: 200 }, () => addPlayer(wallet, { balanceCents: 1_00n })));
    const roundId = newId();
    const payments = players.map((player, rank) => purseOf(player, BigInt(1_000 - rank), roundId));
    const [loser, ...others] = payments;
    if (loser === undefined) throw new Error('no payments');
    const first = await addPlayer(wallet);
    await payAgain({ ...loser, accountId: first.accountId, tenant: first.player.tenant });
    for (let times = 0; times < 2; times += 1) {
      const { payouts } = await ok(wallet.client.payAwards({ payments }));
      expect(payouts.map(({ awardId, status }) => [awardId, status])).toEqual([
        [loser.awardId, PayoutStatus.UNSPECIFIED],
        ...others.map(({ awardId }) => [awardId, PayoutStatus.PAID]),
      ]);
    }
    const balances = await Promise.all([first, ...players].map((player) => balanceOf(wallet, player)));
    expect(balances).toEqual([loser.amountCents, 1_00n, ...others.map(({ amountCents }) => 1_00n + amountCents)]);
  });

  it('two concurrent payments to different players under one award id pay exactly one player', async () => {
    for (let times = 0; times < 10; times += 1) {
      const [one, other] = [await addPlayer(wallet, { balanceCents: 1_00n }), await addPlayer(wallet)];
      const purse = purseOf(one, 2_00n);
      const answers = await Promise.all([
        payAgain(purse, times % 2 === 0 ? wallet.client : replica),
        payAgain({ ...purse, accountId: other.accountId, tenant: other.player.tenant }),
      ]);
      const statuses = answers.map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([PayoutStatus.UNSPECIFIED, PayoutStatus.PAID]);
      const isFirst = statuses[0] === PayoutStatus.PAID;
      expect(await balanceOf(wallet, one)).toBe(isFirst ? 3_00n : 1_00n);
      expect(await balanceOf(wallet, other)).toBe(isFirst ? 0n : 2_00n);
    }
  });
});

describe('the sandbox’s “hold the next award”', () => {
  it('“hold the next award” holds exactly one award', async () => {
    const player = { tenant: { programId: newId(), environment: Environment.TEST }, playerRef: 'sandy' };
    const { accountId } = await ok(wallet.client.putSandboxPlayer({ player, fundsCents: 0n }));
    await ok(wallet.client.holdNextAward({ player }));
    await ok(wallet.client.holdNextAward({ player }));
    const sandy = { accountId, email: '', player };
    expect(await pay(sandy, 1_00n)).toMatchObject({ status: PayoutStatus.HELD, reason: 'sandbox_hold' });
    expect(await pay(sandy, 1_00n)).toMatchObject({ status: PayoutStatus.PAID, reason: '' });
    expect(await balanceOf(wallet, sandy)).toBe(1_00n);
  });

  it('a purse is held by “hold the next award” and consumes it', async () => {
    const player = { tenant: { programId: newId(), environment: Environment.TEST }, playerRef: 'sandy' };
    const { accountId } = await ok(wallet.client.putSandboxPlayer({ player, fundsCents: 0n }));
    const sandy = { accountId, email: '', player };
    await ok(wallet.client.holdNextAward({ player }));
    expect(await payAgain(purseOf(sandy, 1_00n))).toMatchObject({ status: PayoutStatus.HELD, reason: 'sandbox_hold' });
    expect(await pay(sandy, 1_00n)).toMatchObject({ status: PayoutStatus.PAID, reason: '' });
  });

  it('“hold the next award” is not found in live, or for a ref without an account', async () => {
    const { player } = await addPlayer(wallet);
    expect(await refusalOf(wallet.client.holdNextAward({ player }))).toBe('not_found');
    const unlinked = { tenant: { programId: newId(), environment: Environment.TEST }, playerRef: 'unlinked' };
    expect(await refusalOf(wallet.client.holdNextAward({ player: unlinked }))).toBe('not_found');
  });
});

describe('reviewing a held award', () => {
  async function hold(amountCents = 5_00n): Promise<{ player: TestPlayer; payout: Payout }> {
    const player = await addPlayer(wallet);
    await change(player, { underInvestigation: true });
    return { player, payout: await pay(player, amountCents) };
  }

  it('releasing a held award moves the money once', async () => {
    const { player, payout } = await hold();
    const { awardId } = payout;
    wallet.clock.advance(1_000);
    const paid = { ...payout, status: PayoutStatus.PAID, paidAt: wallet.clock.now };
    const releases = await Promise.all(
      [wallet.client, replica, wallet.client, replica].map((client) => ok(client.releasePayout({ awardId }))),
    );
    for (const release of releases) expect(release).toEqual({ payout: paid });
    expect(await balanceOf(wallet, player)).toBe(5_00n);
    expect(await refusalOf(wallet.client.denyPayout({ awardId }))).toBe('conflict');
  });

  it('denying a held award closes it unpaid', async () => {
    const { player, payout } = await hold();
    const { awardId } = payout;
    const denied = { payout: { ...payout, status: PayoutStatus.DENIED } };
    expect(await ok(wallet.client.denyPayout({ awardId }))).toEqual(denied);
    expect(await ok(wallet.client.denyPayout({ awardId }))).toEqual(denied);
    expect(await ok(wallet.client.getPayout({ awardId }))).toEqual({ ...denied, deniedAt: expect.any(Date) });
    expect(await refusalOf(wallet.client.releasePayout({ awardId }))).toBe('conflict');
    expect(await balanceOf(wallet, player)).toBe(0n);
  });

  it('exactly one of a concurrent release and denial of a held award takes effect', async () => {
    const { player, payout } = await hold();
    const { awardId } = payout;
    const answers = await Promise.all([wallet.client.releasePayout({ awardId }), replica.denyPayout({ awardId })]);
    const { payout: after } = await ok(wallet.client.getPayout({ awardId }));
    expect(answers.filter((answer) => 'kind' in answer)).toHaveLength(1);
    expect(await balanceOf(wallet, player)).toBe(after?.status === PayoutStatus.PAID ? 5_00n : 0n);
  });

  it('an award that was paid without a hold counts as released', async () => {
    const player = await addPlayer(wallet);
    const payout = await pay(player, 1_00n);
    expect(await ok(wallet.client.releasePayout({ awardId: payout.awardId }))).toEqual({ payout });
    expect(await balanceOf(wallet, player)).toBe(1_00n);
  });

  it('a released award counts towards the velocity from the instant of its payment', async () => {
    const { player, payout } = await hold(500_00n);
    await change(player, { underInvestigation: false });
    wallet.clock.advance(48 * HOUR_MS);
    await ok(wallet.client.releasePayout({ awardId: payout.awardId }));
    expect(await pay(player, 1n)).toMatchObject({ status: PayoutStatus.HELD, reason: 'payout_velocity' });
  });

  it('unknown and malformed award ids are not found', async () => {
    for (const awardId of [newId(), 'nonsense', '']) {
      expect(await refusalOf(wallet.client.releasePayout({ awardId }))).toBe('not_found');
      expect(await refusalOf(wallet.client.denyPayout({ awardId }))).toBe('not_found');
      expect(await refusalOf(wallet.client.getPayout({ awardId }))).toBe('not_found');
    }
  });
});

describe('listing payouts', () => {
  it('ListPayouts pages newest first, by status, without gaps or repeats', async () => {
    const player = await addPlayer(wallet);
    await change(player, { enforcementFlag: true });
    const held: Payout[] = [];
    for (let index = 0; index < 7; index += 1) {
      // Some payouts share an instant.
      if (index % 2 === 0) wallet.clock.advance(1_000);
      held.push(await pay(player, 1_00n));
    }
    const listed: Payout[] = [];
    let cursor = '';
    do {
      const page = await ok(wallet.client.listPayouts({ status: PayoutStatus.HELD, limit: 3, cursor }));
      expect(page.payouts.every((payout) => payout.status === PayoutStatus.HELD)).toBe(true);
      listed.push(...page.payouts);
      cursor = page.nextCursor;
    } while (cursor !== '');
    const ids = listed.map((payout) => payout.awardId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.slice(0, 7))).toEqual(new Set(held.map((payout) => payout.awardId)));
    const instants = listed.map((payout) => payout.createdAt?.getTime() ?? 0);
    expect(instants).toEqual([...instants].sort((a, b) => b - a));
    const { payouts } = await ok(
      wallet.client.listPayouts({ status: PayoutStatus.UNSPECIFIED, limit: 200, cursor: '' }),
    );
    expect(new Set(payouts.map((payout) => payout.status))).toEqual(
      new Set([PayoutStatus.PAID, PayoutStatus.HELD, PayoutStatus.DENIED]),
    );
  });

  it('ListPayouts refuses an invalid cursor', async () => {
    const call = wallet.client.listPayouts({ status: PayoutStatus.HELD, limit: 3, cursor: 'nonsense' });
    expect(await refusalOf(call)).toBe('invalid_request');
  });

  it('ListAwardPayouts lists all payouts in the order of their award ids', async () => {
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const { payouts } = await ok(wallet.client.listAwardPayouts({ afterAwardId: after, limit: 10 }));
      ids.push(...payouts.map((payout) => payout.awardId));
      if (payouts.length < 10) break;
      after = ids.at(-1) ?? '';
    }
    const [row] = await wallet.database.query<{ count: bigint }>({ text: 'select count(*) from payouts' });
    expect(BigInt(ids.length)).toBe(row?.count);
    expect(ids).toEqual([...ids].sort());
  });

  it.each(['challenge', 'tournament'] as const)(
    'ListAwardPayouts filters payouts by the contest service %s',
    async (owner) => {
      const listed: Payout[] = [];
      for (let after = ''; ; ) {
        const { payouts } = await ok(wallet.client.listAwardPayouts({ afterAwardId: after, limit: 10, owner }));
        listed.push(...payouts);
        if (payouts.length < 10) break;
        after = payouts.at(-1)?.awardId ?? '';
      }
      for (const { awardId, roundId } of listed) {
        expect([contestServiceOf(awardId), roundId !== '']).toEqual([owner, owner === 'tournament']);
      }
      const [row] = await wallet.database.query<{ count: bigint }>({
        text: `select count(*) from payouts where ${owner === 'challenge' ? 'attempt_id' : 'round_id'} is not null`,
      });
      expect(BigInt(listed.length)).toBe(row?.count);
    },
  );
});
