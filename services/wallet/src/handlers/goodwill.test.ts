/** Deposits that compensate for an attempt of the account. */
import { Environment } from '@laurel/proto/common';
import { newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { playerLedgerId } from '../domain/ledger.ts';
import { loadGoodwillStatement } from '../repository/statements.ts';
import {
  addPlayer,
  auditViolations,
  balanceOf,
  charge,
  chargeOf,
  ok,
  openTestWallet,
  refusalOf,
  type TestPlayer,
  useTestWallet,
} from '../wallet.fixture.ts';

const wallet = useTestWallet();

async function paidAttempt(): Promise<{ player: TestPlayer; attemptId: string }> {
  const player = await addPlayer(wallet, { balanceCents: 10_00n });
  const fee = chargeOf(player, 1_00n);
  expect(await charge(wallet.client, fee)).toBe('posted');
  return { player, attemptId: fee.attemptId };
}

const depositOf = ({ accountId }: TestPlayer, attemptId?: string) => ({
  accountId,
  environment: Environment.LIVE,
  amountCents: 2_00n,
  reference: 'ticket 7',
  attemptId,
});

describe('a deposit that compensates for an attempt', () => {
  it('the statement shows the attempt that a deposit compensates for', async () => {
    const { player, attemptId } = await paidAttempt();
    const { accountId } = player;
    for (let times = 0; times < 2; times += 1) await ok(wallet.client.deposit(depositOf(player, attemptId)));
    expect(await balanceOf(wallet, player)).toBe(11_00n);
    const page = { accountId, environment: Environment.LIVE, limit: 10, cursor: '' };
    const { lines } = await ok(wallet.client.getStatement(page));
    expect(lines.map(({ kind, reference, attemptId: about }) => [kind, reference, about])).toEqual([
      ['deposit', 'ticket 7', attemptId],
      ['fee', attemptId, undefined],
      ['deposit', 'start', undefined],
    ]);
  });

  it('a repeated reference for another attempt or for none is a conflict', async () => {
    const { player, attemptId } = await paidAttempt();
    await ok(wallet.client.deposit(depositOf(player, attemptId)));
    for (const other of [newOwnedId('challenge'), undefined]) {
      expect(await refusalOf(wallet.client.deposit(depositOf(player, other)))).toBe('conflict');
    }
    expect(await balanceOf(wallet, player)).toBe(11_00n);
  });

  it('the deposits for an attempt are listed oldest first, with their references', async () => {
    const { player, attemptId } = await paidAttempt();
    for (const [reference, about] of [
      ['ticket 7', attemptId],
      ['ticket 8', newOwnedId('challenge')],
      ['ticket 9', attemptId],
    ] as const) {
      wallet.clock.advance(1_000);
      await ok(wallet.client.deposit({ ...depositOf(player, about), reference }));
    }
    const { deposits } = await ok(wallet.client.listGoodwill({ attemptId: attemptId.toUpperCase() }));
    expect(deposits).toEqual([
      { amountCents: 2_00n, reference: 'ticket 7', createdAt: new Date(wallet.clock.now.getTime() - 2_000) },
      { amountCents: 2_00n, reference: 'ticket 9', createdAt: wallet.clock.now },
    ]);
    for (const none of [newOwnedId('challenge'), 'x', ''])
      expect(await ok(wallet.client.listGoodwill({ attemptId: none }))).toEqual({ deposits: [] });
  });

  it('the deposits of an attempt are read by an index that has no other transfers', async () => {
    const plan = await wallet.database.transaction(async (tx) => {
      await tx.query({ text: 'set local enable_seqscan = off' });
      const explain = { text: `explain ${loadGoodwillStatement.text}` };
      return tx.query<{ 'QUERY PLAN': string }>(explain, [newOwnedId('challenge'), 200]);
    });
    expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain('transfers_goodwill_idx');
  });

  it('a deposit for an attempt of another account, or for an unknown id, is not found', async () => {
    const { attemptId } = await paidAttempt();
    const otherPlayer = await addPlayer(wallet);
    for (const wrong of [attemptId, attemptId.toUpperCase(), 'x', '']) {
      expect(await refusalOf(wallet.client.deposit(depositOf(otherPlayer, wrong)))).toBe('not_found');
    }
    expect(await balanceOf(wallet, otherPlayer)).toBe(0n);
  });

  it('the wallet’s audit finds a deposit for an attempt that another player paid for', async () => {
    await using other = await openTestWallet();
    const [payer, otherPlayer] = [
      await addPlayer(other, { balanceCents: 5_00n }),
      await addPlayer(other, { balanceCents: 5_00n }),
    ];
    const fee = chargeOf(payer, 1_00n);
    await charge(other.client, fee);
    await other.database.transaction(async (tx) => {
      await tx.query({ text: 'set local session_replication_role = replica' });
      const text = `update transfers set attempt_id = $1 where kind = 'deposit' and player_ledger_id = $2`;
      await tx.query({ text }, [fee.attemptId, playerLedgerId(otherPlayer.accountId, 'live')]);
    });
    expect(await auditViolations(other)).toEqual({ goodwill_goes_to_the_player: 1n });
  });
});
