import { Environment } from '@laurel/proto/common';
import { isExactBound } from '@laurel/testing';
import { type ContestServiceName, contestServiceOf, feeTransferId, newId, newOwnedId } from '@laurel/values/ids';
import { MAX_EMAIL_CHARACTERS, MAX_REFERENCE_CHARACTERS } from '@laurel/values/limits';
import { MAX_PLAYER_REF_CHARACTERS } from '@laurel/values/tenant';
import { describe, expect, it } from 'vitest';
import {
  addPlayer,
  awardOf,
  balanceOf,
  charge,
  chargeOf,
  ok,
  purseOf,
  refusalOf,
  useTestWallet,
} from '../wallet.fixture.ts';

const wallet = useTestWallet();

const person = { email: 'Ann@Example.com', dateOfBirth: '1990-02-28', jurisdiction: 'US-CA', verificationLevel: 1 };

describe('accounts', () => {
  it('e-mail addresses that differ only in case name one account', async () => {
    const { account } = await ok(wallet.client.createAccount(person));
    expect(account).toEqual({
      ...person,
      id: account?.id,
      email: 'ann@example.com',
      selfExcludedUntil: undefined,
      enforcementFlag: false,
      underInvestigation: false,
      blocked: false,
      sandboxOnly: false,
      programId: undefined,
      createdAt: wallet.clock.now,
    });
    expect(await refusalOf(wallet.client.createAccount({ ...person, email: 'ANN@example.com' }))).toBe('conflict');
    expect(await refusalOf(wallet.client.createAccount({ ...person, email: 'ann' }))).toBe('invalid_request');
  });

  it('an e-mail address with a lookalike character is another address', async () => {
    const name = newId();
    const { account } = await ok(wallet.client.createAccount({ ...person, email: `k${name}@example.com` }));
    const player = { tenant: { programId: newId(), environment: Environment.LIVE }, playerRef: 'p-1' };
    for (const other of ['\u212a', '\u00a0k', '\u3000k', '\uff2b']) {
      const email = `${other}${name}@example.com`;
      expect(await refusalOf(wallet.client.putPlayerLink({ player, email }))).toBe('not_found');
    }
    const link = await ok(wallet.client.putPlayerLink({ player, email: `K${name}@EXAMPLE.com` }));
    expect(link.accountId).toBe(account?.id);
    const { account: second } = await ok(
      wallet.client.createAccount({ ...person, email: `\u212a${name}@example.com` }),
    );
    expect(second?.id).not.toBe(account?.id);
  });

  it('concurrent requests for one e-mail address open one account', async () => {
    const email = `${newId()}@example.com`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => wallet.client.createAccount({ ...person, email })),
    );
    expect(answers.filter((answer) => 'account' in answer)).toHaveLength(1);
    expect(answers.filter((answer) => 'code' in answer && answer.code === 'conflict')).toHaveLength(19);
  });

  it('an update changes only the fields of an account that are sent', async () => {
    const { accountId } = await addPlayer(wallet);
    const until = new Date('2027-01-01T00:00:00.000Z');
    const update = (fields: object) =>
      ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false, ...fields }));
    const { account: excluded } = await update({ selfExcludedUntil: until, jurisdiction: 'US-NY' });
    expect(excluded).toMatchObject({ selfExcludedUntil: until, jurisdiction: 'US-NY', verificationLevel: 1 });
    const { account: raised } = await update({ verificationLevel: 3, enforcementFlag: true, blocked: true });
    expect(raised).toEqual({ ...excluded, verificationLevel: 3, enforcementFlag: true, blocked: true });
    const { account: cleared } = await update({ clearSelfExclusion: true, blocked: false, enforcementFlag: false });
    expect(cleared).toEqual({ ...excluded, verificationLevel: 3, selfExcludedUntil: undefined });
    const { account: same } = await update({});
    expect(same).toEqual(cleared);
  });

  it('a self-exclusion must end between the years 1900 and 9999', async () => {
    const { accountId } = await addPlayer(wallet);
    const exclude = (until: string) =>
      wallet.client.updateAccount({ accountId, clearSelfExclusion: false, selfExcludedUntil: new Date(until) });
    for (const until of ['1899-12-31T23:59:59.999Z', '9999-01-01T00:00:00.001Z', '9999-12-31T23:59:59-05:00']) {
      expect(await refusalOf(exclude(until))).toBe('invalid_request');
      const text = 'update accounts set self_excluded_until = $1 where id = $2';
      await expect(wallet.database.query({ text }, [new Date(until), accountId])).rejects.toThrow(
        'accounts_self_exclusion_ends_within_bounds',
      );
    }
    const { account } = await ok(exclude('9999-01-01T00:00:00.000Z'));
    expect(account?.selfExcludedUntil).toEqual(new Date('9999-01-01T00:00:00.000Z'));
    expect(await ok(wallet.client.getAccount({ accountId }))).toEqual({ account, charges: [] });
  });

  it('an account reads back as written, however often it is read', async () => {
    const { accountId, email } = await addPlayer(wallet);
    const { account } = await ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false, blocked: true }));
    for (let time = 0; time < 2; time += 1)
      expect(await ok(wallet.client.getAccount({ accountId }))).toEqual({ account, charges: [] });
    expect(account).toMatchObject({ id: accountId, email, blocked: true });
    expect(await refusalOf(wallet.client.getAccount({ accountId: newId() }))).toBe('not_found');
    expect(await refusalOf(wallet.client.getAccount({ accountId: 'nonsense' }))).toBe('not_found');
  });

  it('an invalid change of an account is refused', async () => {
    const { accountId } = await addPlayer(wallet);
    const update = (id: string, fields: object) =>
      refusalOf(wallet.client.updateAccount({ accountId: id, clearSelfExclusion: false, ...fields }));
    expect(await update(accountId, { verificationLevel: 4 })).toBe('invalid_request');
    expect(await update(accountId, { jurisdiction: 'Mars' })).toBe('invalid_request');
    expect(await update(newId(), { blocked: true })).toBe('not_found');
    expect(await update('nonsense', { blocked: true })).toBe('not_found');
    expect(await refusalOf(wallet.client.addInsider({ programId: newId(), accountId: newId() }))).toBe('not_found');
  });

  it('the insiders of a program are listed page by page, newest account first', async () => {
    const [programId, other] = [newId(), newId()];
    const accounts = [await addPlayer(wallet), await addPlayer(wallet), await addPlayer(wallet)];
    const [oldest, middle, newest] = accounts.map(({ accountId }) => accountId).sort() as [string, string, string];
    for (const accountId of [newest, oldest, middle]) await ok(wallet.client.addInsider({ programId, accountId }));
    await ok(wallet.client.addInsider({ programId: other, accountId: oldest }));
    const list = async (limit = 10, beforeAccountId?: string) =>
      (await ok(wallet.client.listInsiders({ programId, limit, beforeAccountId }))).insiders;
    expect((await list()).map(({ accountId }) => accountId)).toEqual([newest, middle, oldest]);
    expect((await list(1)).map(({ accountId }) => accountId)).toEqual([newest]);
    const { account } = await ok(wallet.client.getAccount({ accountId: middle }));
    expect(await list(1, newest)).toEqual([{ accountId: middle, email: account?.email, createdAt: expect.any(Date) }]);

    const remove = (accountId: string, from = programId) => wallet.client.removeInsider({ programId: from, accountId });
    await ok(remove(middle));
    for (const repeated of [remove(middle), remove(newest, other), remove('nonsense'), remove(newId())]) {
      expect(await refusalOf(repeated)).toBe('not_found');
    }
    expect((await list()).map(({ accountId }) => accountId)).toEqual([newest, oldest]);
    expect((await ok(wallet.client.listInsiders({ programId: other, limit: 10 }))).insiders).toHaveLength(1);
  });
});

describe('player links', () => {
  it('a player link finds its account by e-mail address, in any case', async () => {
    const { account } = await ok(wallet.client.createAccount({ ...person, email: `${newId()}@example.com` }));
    const player = { tenant: { programId: newId(), environment: Environment.LIVE }, playerRef: 'p-1' };
    const email = account?.email.toUpperCase() ?? '';
    const link = await ok(wallet.client.putPlayerLink({ player, email }));
    expect(link).toEqual({ createdAt: wallet.clock.now, accountId: account?.id });
    wallet.clock.advance(1_000);
    expect(await ok(wallet.client.putPlayerLink({ player, email }))).toEqual(link);
  });

  it('a player link that moves to another account keeps the instant of the first link', async () => {
    const [before, after] = [await addPlayer(wallet), await addPlayer(wallet)];
    const { createdAt } = await ok(wallet.client.putPlayerLink({ player: before.player, email: before.email }));
    wallet.clock.advance(1_000);
    expect(await ok(wallet.client.putPlayerLink({ player: before.player, email: after.email }))).toEqual({
      createdAt,
      accountId: after.accountId,
    });
  });

  it('a player link to an e-mail address without an account is refused', async () => {
    const player = { tenant: { programId: newId(), environment: Environment.LIVE }, playerRef: 'p-1' };
    expect(await refusalOf(wallet.client.putPlayerLink({ player, email: 'unknown@example.com' }))).toBe('not_found');
  });

  it('player links are resolved in order, by program, environment and ref', async () => {
    const known = await addPlayer(wallet);
    const { playerRef, tenant } = known.player;
    const players = [
      known.player,
      { playerRef: 'someone else', tenant },
      { playerRef, tenant: { programId: newId(), environment: Environment.LIVE } },
      { playerRef, tenant: { programId: tenant?.programId ?? '', environment: Environment.TEST } },
      known.player,
    ];
    expect(await ok(wallet.client.resolvePlayers({ players }))).toEqual({
      accountIds: [known.accountId, '', '', '', known.accountId],
    });
  });
});

describe('sandbox players', () => {
  const sandbox = () => ({ tenant: { programId: newId(), environment: Environment.TEST }, playerRef: 'sandy' });

  it('a sandbox player is created, linked and funded in one call', async () => {
    const player = sandbox();
    const made = await ok(wallet.client.putSandboxPlayer({ player, fundsCents: 100_00n }));
    expect(made.createdAt).toEqual(wallet.clock.now);
    const sandy = { accountId: made.accountId, email: '', player };
    expect(await balanceOf(wallet, sandy)).toBe(100_00n);
    const requirement = { verificationLevel: 3, jurisdictions: ['US-NY'], refuseInsiders: true };
    expect(await charge(wallet.client, chargeOf(sandy, 1_00n, { requirement }))).toBe('posted');
  });

  it('a second call for a sandbox player keeps the account and adds the funds', async () => {
    const player = sandbox();
    const made = await ok(wallet.client.putSandboxPlayer({ player, fundsCents: 1_00n }));
    wallet.clock.advance(1_000);
    expect(await ok(wallet.client.putSandboxPlayer({ player, fundsCents: 2_00n }))).toEqual(made);
    expect(await ok(wallet.client.putSandboxPlayer({ player, fundsCents: 0n }))).toEqual(made);
    expect(await balanceOf(wallet, { accountId: made.accountId, email: '', player })).toBe(3_00n);
  });

  it('parallel requests create a sandbox player once', async () => {
    const player = sandbox();
    const made = await Promise.all(
      Array.from({ length: 20 }, () => ok(wallet.client.putSandboxPlayer({ player, fundsCents: 1_00n }))),
    );
    expect(new Set(made.map((answer) => answer.accountId)).size).toBe(1);
    expect(await balanceOf(wallet, { accountId: made[0]?.accountId ?? '', email: '', player })).toBe(20_00n);
  });

  it('a sandbox player can be neither created, nor linked, nor funded in live', async () => {
    const live = { tenant: { programId: newId(), environment: Environment.LIVE }, playerRef: 'sandy' };
    expect(await refusalOf(wallet.client.putSandboxPlayer({ player: live, fundsCents: 1n }))).toBe('invalid_request');
    const { accountId } = await ok(wallet.client.putSandboxPlayer({ player: sandbox(), fundsCents: 0n }));
    const email = `sandbox-${accountId}@sandbox.invalid`;
    expect(await refusalOf(wallet.client.putPlayerLink({ player: live, email }))).toBe('not_found');
    const deposit = { accountId, environment: Environment.LIVE, amountCents: 1n, reference: 'r' };
    expect(await refusalOf(wallet.client.deposit(deposit))).toBe('not_found');
    expect(await refusalOf(wallet.client.putSandboxPlayer({ player: sandbox(), fundsCents: -1n }))).toBe(
      'invalid_request',
    );
  });
});

describe('deposits', () => {
  it('a deposit is posted once per reference', async () => {
    const { accountId } = await addPlayer(wallet);
    const deposit = { accountId, environment: Environment.LIVE, amountCents: 5_00n, reference: 'pay-1' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => ok(wallet.client.deposit(deposit))));
    expect(new Set(answers.map((answer) => answer.balanceCents))).toEqual(new Set([5_00n]));
    expect(await ok(wallet.client.deposit({ ...deposit, reference: 'pay-2' }))).toEqual({
      balanceCents: 10_00n,
      postedBefore: false,
    });
    expect(await ok(wallet.client.deposit(deposit))).toEqual({ balanceCents: 10_00n, postedBefore: true });
  });

  it('a deposit with a used reference and another amount is a conflict', async () => {
    const { accountId } = await addPlayer(wallet);
    const deposit = { accountId, environment: Environment.LIVE, amountCents: 5_00n, reference: 'pay-1' };
    await ok(wallet.client.deposit(deposit));
    expect(await refusalOf(wallet.client.deposit({ ...deposit, amountCents: 5_01n }))).toBe('conflict');
  });

  it('a deposit without an account, an amount or a reference is refused', async () => {
    const { accountId } = await addPlayer(wallet);
    const deposit = { accountId, environment: Environment.LIVE, amountCents: 5_00n, reference: 'pay-1' };
    expect(await refusalOf(wallet.client.deposit({ ...deposit, accountId: newId() }))).toBe('not_found');
    expect(await refusalOf(wallet.client.deposit({ ...deposit, amountCents: 0n }))).toBe('invalid_request');
    expect(await refusalOf(wallet.client.deposit({ ...deposit, reference: '' }))).toBe('invalid_request');
    expect(await refusalOf(wallet.client.deposit({ ...deposit, reference: 'x'.repeat(256) }))).toBe('invalid_request');
    expect(await refusalOf(wallet.client.deposit({ ...deposit, reference: '🎯'.repeat(256) }))).toBe('invalid_request');
    await ok(wallet.client.deposit({ ...deposit, reference: '🎯'.repeat(255) }));
  });
});

describe('statements', () => {
  it('a statement lists every transfer newest first, with its signed amount and the balance after it', async () => {
    const player = await addPlayer(wallet, { balanceCents: 10_00n });
    const fee = chargeOf(player, 3_00n);
    await charge(wallet.client, fee);
    await ok(wallet.client.refundFees({ refunds: [{ feeTransferId: fee.transferId, reason: 'expired' }] }));
    const award = awardOf(player, 7_00n);
    const purse = purseOf(player, 5_00n);
    await ok(wallet.client.payAwards({ payments: [award] }));
    await ok(wallet.client.payAwards({ payments: [purse] }));
    const statement = { accountId: player.accountId, environment: Environment.LIVE, limit: 0, cursor: '' };
    const { balanceCents, lines, nextCursor } = await ok(wallet.client.getStatement(statement));
    expect(
      lines.map(({ kind, amountCents, balanceAfterCents, reference }) => [
        kind,
        amountCents,
        balanceAfterCents,
        reference,
      ]),
    ).toEqual([
      ['purse', 5_00n, 22_00n, purse.awardId],
      ['award', 7_00n, 17_00n, award.awardId],
      ['refund', 3_00n, 10_00n, fee.attemptId],
      ['fee', -3_00n, 7_00n, fee.attemptId],
      ['deposit', 10_00n, 10_00n, 'start'],
    ]);
    expect([balanceCents, nextCursor]).toEqual([22_00n, '']);
  });

  it('the pages of a statement have no gaps or repeats while new transfers are posted', async () => {
    const player = await addPlayer(wallet, { balanceCents: 100_00n });
    for (let index = 0; index < 10; index += 1) await charge(wallet.client, chargeOf(player, 1_00n));
    const read = (cursor: string) =>
      ok(wallet.client.getStatement({ accountId: player.accountId, environment: Environment.LIVE, limit: 4, cursor }));
    const balances: bigint[] = [];
    for (let cursor = ''; ; ) {
      const page = await read(cursor);
      balances.push(...page.lines.map((line) => line.balanceAfterCents));
      if (page.nextCursor === '') break;
      cursor = page.nextCursor;
      await charge(wallet.client, chargeOf(player, 1_00n));
    }
    expect(balances).toEqual(Array.from({ length: 11 }, (_, index) => 90_00n + BigInt(index) * 1_00n));
  });

  it('the statement of an account without transfers is empty', async () => {
    const { accountId } = await addPlayer(wallet);
    const statement = { accountId, environment: Environment.TEST, limit: 10, cursor: '' };
    expect(await ok(wallet.client.getStatement(statement))).toEqual({ balanceCents: 0n, lines: [], nextCursor: '' });
    expect(await refusalOf(wallet.client.getStatement({ ...statement, accountId: newId() }))).toBe('not_found');
    expect(await refusalOf(wallet.client.getStatement({ ...statement, cursor: 'nonsense' }))).toBe('invalid_request');
  });

  it('ListFees lists posted fees in the order of their attempt ids', async () => {
    const player = await addPlayer(wallet, { balanceCents: 10_00n });
    const fees = [chargeOf(player, 1_00n), chargeOf(player, 2_00n), chargeOf(player, 50_00n)];
    for (const fee of fees) await charge(wallet.client, fee);
    const [first, second] = fees;
    await ok(wallet.client.refundFees({ refunds: [{ feeTransferId: second?.transferId ?? '', reason: 'voided' }] }));
    const [{ accountId }, environment] = [player, Environment.LIVE];
    const listed: unknown[] = [];
    for (let after = ''; ; ) {
      const page = await ok(wallet.client.listFees({ afterAttemptId: after, limit: 2 }));
      listed.push(...page.fees);
      after = page.fees.at(-1)?.attemptId ?? '';
      if (page.fees.length < 2) break;
    }
    const expected = [
      { attemptId: first?.attemptId ?? '', feeCents: 1_00n, refunded: false, accountId, environment },
      { attemptId: second?.attemptId ?? '', feeCents: 2_00n, refunded: true, accountId, environment },
    ];
    expect(listed.slice(-2)).toEqual(expected.sort((a, b) => (a.attemptId < b.attemptId ? -1 : 1)));
  });

  it('ListFees lists the fees of one contest service only, page by page', async () => {
    const player = await addPlayer(wallet, { balanceCents: 100_00n });
    const owners = ['tournament', 'challenge', 'tournament', 'tournament', 'challenge', 'tournament'] as const;
    const ids: Record<ContestServiceName, string[]> = { challenge: [], tournament: [] };
    for (const owner of owners) {
      const attemptId = newOwnedId(owner);
      await charge(wallet.client, chargeOf(player, 1_00n, { attemptId, transferId: feeTransferId(attemptId) }));
      ids[owner].push(attemptId);
    }
    for (const owner of ['challenge', 'tournament'] as const) {
      const listed: string[] = [];
      for (let after = ''; ; ) {
        const { fees } = await ok(wallet.client.listFees({ afterAttemptId: after, limit: 2, owner }));
        listed.push(...fees.map((fee) => fee.attemptId));
        after = fees.at(-1)?.attemptId ?? '';
        if (fees.length < 2) break;
      }
      expect(listed).toEqual(expect.arrayContaining(ids[owner]));
      expect(listed.map(contestServiceOf)).toEqual(listed.map(() => owner));
    }
  });

  it('GetFee returns the posted fee of an attempt and its refund', async () => {
    const player = await addPlayer(wallet, { balanceCents: 10_00n });
    const [fee, unpaid] = [chargeOf(player, 3_00n), chargeOf(player, 50_00n)];
    const getFee = (attemptId: string) => wallet.client.getFee({ attemptId });
    for (const it of [fee, unpaid]) await charge(wallet.client, it);
    const charged = await ok(getFee(fee.attemptId));
    expect(charged).toEqual({
      feeCents: 3_00n,
      chargedAt: expect.any(Date),
      refundedAt: undefined,
      refundReason: '',
    });
    await ok(wallet.client.refundFees({ refunds: [{ feeTransferId: fee.transferId, reason: 'voided' }] }));
    expect(await ok(getFee(fee.attemptId))).toEqual({
      ...charged,
      refundedAt: expect.any(Date),
      refundReason: 'voided',
    });
    // The wallet refused this charge, so no fee was posted.
    expect(await refusalOf(getFee(unpaid.attemptId))).toBe('not_found');
    expect(await refusalOf(getFee(newId()))).toBe('not_found');
  });

  it('a list for a service that owns no attempts fails', async () => {
    await expect(wallet.client.listFees({ afterAttemptId: '', limit: 1, owner: 'wallet' })).rejects.toThrow();
  });
});

/** A text of this many characters; each character after the first takes two UTF-16 units. */
const wide = (characters: number) => `x${'🎯'.repeat(characters - 1)}`;

it.each([
  ['accounts_email_length', MAX_EMAIL_CHARACTERS, (length: number) => ({ email: wide(length) })],
  ['player_links_player_ref_length', MAX_PLAYER_REF_CHARACTERS, (length: number) => ({ player_ref: wide(length) })],
  [
    'transfers_deposit_has_reference',
    MAX_REFERENCE_CHARACTERS,
    (length: number) => ({ kind: 'deposit', reference: wide(length) }),
  ],
])('the constraint %s has the same bound as the rule', async (constraint, most, valuesOf) => {
  expect(await isExactBound(wallet.database, { constraint, most }, valuesOf)).toBe(true);
});
