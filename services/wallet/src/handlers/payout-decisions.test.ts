/** An operator's decision on a held payout: who decided, when and why, kept with the payout. */
import { Environment } from '@laurel/proto/common';
import { type Payout, PayoutStatus } from '@laurel/proto/wallet';
import { newId } from '@laurel/values/ids';
import { beforeAll, describe, expect, it } from 'vitest';
import { VELOCITY_WINDOW_MS } from '../domain/payout-hold.ts';
import {
  addPlayer,
  auditViolations,
  awardOf,
  balanceOf,
  ok,
  openTestWallet,
  refusalOf,
  type TestPlayer,
  useTestWallet,
  type WalletClient,
} from '../wallet.fixture.ts';

const wallet = useTestWallet();
let replica: WalletClient;
beforeAll(async () => {
  replica = await wallet.startReplica();
});

const ANA = { operator: 'ana', reason: 'the score is a bot’s' };
const BEN = { operator: 'ben', reason: 'a mistake' };

async function hold(amountCents = 5_00n): Promise<{ player: TestPlayer; payout: Payout; awardId: string }> {
  const player = await addPlayer(wallet);
  const { accountId } = player;
  await ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false, underInvestigation: true }));
  const { payouts } = await ok(wallet.client.payAwards({ payments: [awardOf(player, amountCents)] }));
  const [payout] = payouts;
  if (payout === undefined) throw new Error('no payout was answered');
  return { player, payout, awardId: payout.awardId };
}

const read = async (awardId: string) => (await ok(wallet.client.getPayout({ awardId }))).payout;

describe('the decision on a held payout', () => {
  it('a decision on a held payout is stored with its operator, reason and instant', async () => {
    for (const [decide, change] of [
      ['releasePayout', { status: PayoutStatus.PAID }],
      ['denyPayout', { status: PayoutStatus.DENIED }],
    ] as const) {
      const { payout, awardId } = await hold();
      wallet.clock.advance(1_000);
      const decidedAt = wallet.clock.now;
      const paidAt = decide === 'releasePayout' ? decidedAt : undefined;
      const decided = { ...payout, ...change, paidAt, decision: { ...ANA, decidedAt } };
      expect(await ok<{ payout: Payout | undefined }>(wallet.client[decide]({ awardId, ...ANA }))).toEqual({
        payout: decided,
      });
      expect(await read(awardId)).toEqual(decided);
      expect(decided.reason).toBe('under_investigation');
      const { payouts } = await ok(wallet.client.listPayouts({ status: change.status, limit: 1, cursor: '' }));
      expect(payouts).toEqual([decided]);
    }
  });

  it('a decision on a held payout needs no reason, but a blank one is refused', async () => {
    const { payout, awardId } = await hold();
    for (const reason of ['', '  \n', 'x'.repeat(1_001)]) {
      expect(await refusalOf(wallet.client.denyPayout({ awardId, operator: 'ana', reason }))).toBe('invalid_request');
    }
    expect(await refusalOf(wallet.client.releasePayout({ awardId, operator: 'ana', reason: ' ' }))).toBe(
      'invalid_request',
    );
    expect(await read(awardId)).toEqual(payout);
    await ok(wallet.client.releasePayout({ awardId, operator: 'ana' }));
    expect((await read(awardId))?.decision).toEqual({ operator: 'ana', decidedAt: wallet.clock.now });
    const other = await hold();
    await ok(wallet.client.denyPayout({ awardId: other.awardId, operator: 'ana' }));
    expect((await read(other.awardId))?.decision).toEqual({ operator: 'ana', decidedAt: wallet.clock.now });
  });

  it('exactly one of several concurrent decisions over two replicas takes effect', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { player, awardId } = await hold();
      const answers = await Promise.all([
        wallet.client.releasePayout({ awardId, ...ANA }),
        replica.releasePayout({ awardId, ...BEN }),
        replica.denyPayout({ awardId, ...ANA }),
        wallet.client.denyPayout({ awardId, ...BEN }),
      ]);
      const decided = await read(awardId);
      expect(decided?.decision).toBeDefined();
      for (const answer of answers) {
        if ('kind' in answer) expect(answer).toMatchObject({ code: 'conflict' });
        else expect(answer.payout).toEqual(decided);
      }
      expect(answers.filter((answer) => 'kind' in answer)).toHaveLength(2);
      expect(await balanceOf(wallet, player)).toBe(decided?.status === PayoutStatus.PAID ? 5_00n : 0n);
    }
  });

  it('a decision without an operator, as the previous release sends it, is final', async () => {
    const { payout, awardId } = await hold();
    const denied = { ...payout, status: PayoutStatus.DENIED };
    expect(await ok(wallet.client.denyPayout({ awardId }))).toEqual({ payout: denied });
    expect(await ok(wallet.client.denyPayout({ awardId, ...ANA }))).toEqual({ payout: denied });
    expect(await read(awardId)).toEqual(denied);
  });
});

describe('what an operator reads before a decision', () => {
  it('a described payout shows the account and the payouts of 24 hours with their limits', async () => {
    const { player, payout, awardId } = await hold(7_00n);
    const { accountId } = player;
    const tenant = payout.tenant;
    await ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false, underInvestigation: false }));
    // The first award is too old to count, two are paid, and the last is held.
    await ok(wallet.client.payAwards({ payments: [awardOf(player, 1_00n)] }));
    wallet.clock.advance(VELOCITY_WINDOW_MS);
    await ok(wallet.client.payAwards({ payments: [awardOf(player, 2_00n)] }));
    await ok(wallet.client.payAwards({ payments: [awardOf(player, 3_00n)] }));
    await ok(wallet.client.payAwards({ payments: [awardOf(player, 600_00n)] }));
    // Another player of the program is paid too.
    const other = await addPlayer(wallet, { programId: tenant?.programId ?? '' });
    await ok(wallet.client.payAwards({ payments: [awardOf(other, 10_00n)] }));

    const { account } = await ok(wallet.client.getAccount({ accountId }));
    const described = {
      payout,
      account,
      accountPayouts: { paidCount: 2n, paidCents: 5_00n, countLimit: 5n, limitCents: 500_00n },
      programLimits: { tenant, payoutLimitCents: 5_000_00n, feeLimitCents: 200_00n, paidCents: 15_00n },
    };
    expect(await ok(wallet.client.describePayout({ awardId }))).toEqual(described);

    await ok(wallet.client.releasePayout({ awardId, ...ANA }));
    const after = await ok(replica.describePayout({ awardId }));
    expect(after).toEqual({
      payout: await read(awardId),
      account,
      accountPayouts: { ...described.accountPayouts, paidCount: 3n, paidCents: 12_00n },
      programLimits: { ...described.programLimits, paidCents: 22_00n },
    });
    expect(after.payout?.decision).toMatchObject(ANA);
  });

  it('a described payout in test shows the limits of test', async () => {
    const player = await addPlayer(wallet, { environment: Environment.TEST });
    const payment = awardOf(player, 1_00n);
    await ok(wallet.client.payAwards({ payments: [payment] }));
    const { accountPayouts, programLimits } = await ok(wallet.client.describePayout({ awardId: payment.awardId }));
    expect(accountPayouts).toMatchObject({ paidCount: 1n, paidCents: 1_00n });
    expect(programLimits).toEqual({ tenant: payment.tenant, paidCents: 1_00n });
    for (const awardId of [newId(), 'x', '']) {
      expect(await refusalOf(wallet.client.describePayout({ awardId }))).toBe('not_found');
    }
  });
});

describe('the database and decisions', () => {
  const insert = (awardId: string, decision: string, reason: string, at = 'coalesce(paid_at, denied_at)') =>
    `insert into payout_decisions (award_id, decision, operator, reason, decided_at)
     select award_id, '${decision}', 'ana', ${reason}, ${at} from payouts where award_id = '${awardId}'`;

  it('the database refuses to change a decision or the cause of a hold', async () => {
    const { awardId } = await hold();
    await ok(wallet.client.denyPayout({ awardId, ...ANA }));
    for (const text of [
      `update payout_decisions set reason = 'another'`,
      `delete from payout_decisions`,
      `truncate payout_decisions`,
      `update payouts set reason = 'payout_velocity' where award_id = '${awardId}'`,
      `update payouts set status = 'held', denied_at = null where award_id = '${awardId}'`,
      `update payouts set denied_at = denied_at + interval '1 s' where award_id = '${awardId}'`,
    ]) {
      await expect(wallet.database.query({ text })).rejects.toThrow('decisions on payouts are final');
    }
    const held = await hold();
    const text = `update payouts set reason = 'payout_velocity' where award_id = '${held.awardId}'`;
    await expect(wallet.database.query({ text })).rejects.toThrow('decisions on payouts are final');
  });

  it('the database refuses a decision that differs from the payout’s status', async () => {
    const held = await hold();
    const denied = await hold();
    await ok(wallet.client.denyPayout({ awardId: denied.awardId }));
    const player = await addPlayer(wallet);
    const { payouts } = await ok(wallet.client.payAwards({ payments: [awardOf(player, 1_00n)] }));
    const paid = payouts[0]?.awardId ?? '';
    for (const text of [
      insert(held.awardId, 'released', `'why'`, 'created_at'),
      insert(denied.awardId, 'released', `'why'`),
      insert(denied.awardId, 'denied', `'why'`, `denied_at + interval '1 s'`),
      insert(paid, 'released', `'why'`),
    ]) {
      await expect(wallet.database.query({ text })).rejects.toThrow('was not held and then');
    }
    for (const [reason, constraint] of [
      [`''`, 'payout_decisions_reason_has_words'],
      [`repeat('x', 1001)`, 'payout_decisions_reason_length'],
      [`E' \\t\\n'`, 'payout_decisions_reason_has_words'],
    ] as const) {
      const text = insert(denied.awardId, 'denied', reason);
      await expect(wallet.database.query({ text })).rejects.toThrow(constraint);
    }
    await wallet.database.query({ text: insert(denied.awardId, 'denied', `'why'`) });
    await expect(wallet.database.query({ text: insert(denied.awardId, 'denied', `'why'`) })).rejects.toThrow(
      'payout_decisions_pkey',
    );
  });

  it('the wallet’s audit finds a decision that differs from its payout’s status', async () => {
    await using other = await openTestWallet();
    const player = await addPlayer(other);
    const { accountId } = player;
    await ok(other.client.updateAccount({ accountId, clearSelfExclusion: false, underInvestigation: true }));
    const payments = [awardOf(player, 1_00n), awardOf(player, 2_00n)];
    await ok(other.client.payAwards({ payments }));
    const [released, denied] = payments.map(({ awardId }) => awardId);
    await ok(other.client.releasePayout({ awardId: released ?? '', ...ANA }));
    await ok(other.client.denyPayout({ awardId: denied ?? '', ...ANA }));
    expect(await auditViolations(other)).toEqual({});
    await other.database.transaction(async (tx) => {
      await tx.query({ text: 'set local session_replication_role = replica' });
      await tx.query({ text: `update payout_decisions set decision = 'denied' where award_id = '${released}'` });
      await tx.query({ text: `update payouts set denied_at = denied_at + interval '1 s' where denied_at is not null` });
    });
    expect(await auditViolations(other)).toEqual({ decisions_match_their_payouts: 2n });
  });
});
