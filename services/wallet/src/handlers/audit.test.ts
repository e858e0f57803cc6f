import { Environment } from '@laurel/proto/common';
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { houseLedgerId, LIVE_HOUSE, playerLedgerId } from '../domain/ledger.ts';
import {
  addPlayer,
  auditViolations,
  awardOf,
  charge,
  chargeOf,
  ok,
  openTestWallet,
  purseOf,
  type TestPlayer,
  type TestWallet,
} from '../wallet.fixture.ts';
import { audit } from './audit.ts';

let wallet: TestWallet;
let player: TestPlayer;
let ledgerId: string;

/**
 * A wallet after a deposit, two fees, a refusal, a refund, an award, a purse, a held award and a
 * held purse.
 */
async function openUsedWallet(): Promise<void> {
  wallet = await openTestWallet();
  player = await addPlayer(wallet, { balanceCents: 10_00n });
  ledgerId = playerLedgerId(player.accountId, 'live');
  const refunded = chargeOf(player, 1_00n);
  await charge(wallet.client, refunded);
  await charge(wallet.client, chargeOf(player, 2_00n));
  await charge(wallet.client, chargeOf(player, 99_00n));
  await ok(wallet.client.refundFees({ refunds: [{ feeTransferId: refunded.transferId, reason: 'expired' }] }));
  await ok(wallet.client.payAwards({ payments: [awardOf(player, 3_00n)] }));
  await ok(wallet.client.payAwards({ payments: [purseOf(player, 5_00n)] }));
  const { accountId } = player;
  await ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false, enforcementFlag: true }));
  await ok(wallet.client.payAwards({ payments: [awardOf(player, 4_00n)] }));
  await ok(wallet.client.payAwards({ payments: [purseOf(player, 6_00n)] }));
}

/** Writes rows that the tables' triggers, constraints and unique indexes would refuse. */
async function tamper(...statements: string[]): Promise<void> {
  await wallet.database.transaction(async (tx) => {
    await tx.query({ text: `set local session_replication_role = replica` });
    for (const text of statements) await tx.query({ text });
  });
}

describe('the wallet’s audit', () => {
  beforeEach(openUsedWallet);
  afterEach(() => wallet[Symbol.asyncDispose]());

  it('the wallet’s audit finds no violation after ordinary use', async () => {
    const { checks } = await ok(wallet.client.audit({}));
    expect(checks.map((check) => [check.id, check.violations])).toEqual(
      [
        'balance_is_sum_of_transfers',
        'balances_sum_to_zero',
        'balances_of_a_house_sum_to_zero',
        'houses_are_complete',
        'players_stay_with_their_house',
        'no_player_below_zero',
        'running_balance_is_unbroken',
        'tombstones_move_nothing',
        'one_environment_per_transfer',
        'one_fee_per_attempt',
        'one_refund_per_fee_equal_and_opposite',
        'one_transfer_per_paid_payout',
        'held_payouts_moved_no_money',
        'payments_name_their_owner',
        'guards_are_in_place',
        'one_deposit_per_reference',
        'program_payouts_within_limit',
        'program_payouts_keep_the_count',
        'program_fees_within_limit',
        'goodwill_goes_to_the_player',
        'closed_days_match_the_ledger',
        'days_of_environments_are_sums_of_programs',
        'decisions_match_their_payouts',
      ].map((id) => [id, 0n]),
    );
  });

  it('the wallet’s audit finds a balance that was changed by hand', async () => {
    await tamper(`update ledger_accounts set balance_cents = balance_cents + 1 where id = '${ledgerId}'`);
    const { checks } = await ok(wallet.client.audit({}));
    const found = checks.filter((check) => check.violations > 0n);
    expect(found.map((check) => [check.id, check.examples])).toEqual([
      ['balance_is_sum_of_transfers', [ledgerId]],
      ['balances_sum_to_zero', ['live']],
      ['balances_of_a_house_sum_to_zero', [LIVE_HOUSE]],
    ]);
  });

  it('the wallet’s audit finds a transfer that was deleted', async () => {
    await tamper(`delete from transfers where kind = 'deposit'`);
    expect(await auditViolations(wallet)).toEqual({ balance_is_sum_of_transfers: 2n, running_balance_is_unbroken: 1n });
  });

  it('the wallet’s audit finds a refund that was made smaller', async () => {
    await tamper(
      `update transfers set amount_cents = 50, player_balance_after_cents = player_balance_after_cents - 50 where kind = 'refund'`,
    );
    expect(await auditViolations(wallet)).toMatchObject({ one_refund_per_fee_equal_and_opposite: 1n });
  });

  it('the wallet’s audit finds a refund whose fee is missing, and a repeated refund', async () => {
    await tamper(
      `drop index transfers_one_refund_per_fee`,
      `insert into transfers (id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id,
        player_balance_after_cents, attempt_id, fee_transfer_id, reason, created_at)
       select gen_random_uuid(), state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id,
        player_balance_after_cents, attempt_id, fee_transfer_id, reason, created_at from transfers where kind = 'refund'`,
    );
    expect(await auditViolations(wallet)).toMatchObject({ one_refund_per_fee_equal_and_opposite: 1n });
    await tamper(`update transfers set fee_transfer_id = '${newId()}' where kind = 'refund'`);
    expect(await auditViolations(wallet)).toMatchObject({ one_refund_per_fee_equal_and_opposite: 3n });
  });

  it('the wallet’s audit finds an attempt that was paid for twice', async () => {
    await tamper(
      `drop index transfers_one_fee_per_attempt`,
      `update transfers set attempt_id = '${newOwnedId('challenge')}' where kind = 'fee' and state = 'posted'`,
    );
    expect(await auditViolations(wallet)).toMatchObject({ one_fee_per_attempt: 1n });
  });

  it('the wallet’s audit finds a tombstone whose fee was charged nevertheless', async () => {
    await tamper(
      `update transfers set attempt_id = (select attempt_id from transfers where kind = 'refund') where state = 'tombstone'`,
    );
    expect(await auditViolations(wallet)).toEqual({ tombstones_move_nothing: 1n });
  });

  it.each([
    ['an award', 'award', 'attempt_id'],
    ['a purse', 'purse', 'round_id'],
  ])('the wallet’s audit finds %s that was never paid, paid too much, or paid while held', async (_, kind, source) => {
    await tamper(`update payouts set amount_cents = 1 where status = 'paid' and ${source} is not null`);
    expect(await auditViolations(wallet)).toEqual({ one_transfer_per_paid_payout: 1n });
    await tamper(
      `update transfers set award_id = (select award_id from payouts where status = 'held' and ${source} is not null)
       where kind = '${kind}'`,
    );
    expect(await auditViolations(wallet)).toEqual({
      one_transfer_per_paid_payout: 2n,
      held_payouts_moved_no_money: 1n,
    });
  });

  it('the wallet’s audit finds a purse that was paid for another round', async () => {
    await tamper(`update transfers set round_id = '${newId()}' where kind = 'purse'`);
    expect(await auditViolations(wallet)).toEqual({ one_transfer_per_paid_payout: 1n });
  });

  it('the wallet’s audit finds a purse that was paid twice', async () => {
    await tamper(
      `drop index transfers_one_transfer_per_award`,
      `insert into transfers (id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id,
        player_balance_after_cents, round_id, award_id, created_at)
       select gen_random_uuid(), state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id,
        player_balance_after_cents, round_id, award_id, created_at from transfers where kind = 'purse'`,
    );
    expect(await auditViolations(wallet)).toEqual({
      balance_is_sum_of_transfers: 2n,
      running_balance_is_unbroken: 1n,
      one_transfer_per_paid_payout: 1n,
      guards_are_in_place: 1n,
    });
  });

  it('the wallet’s audit finds a purse that was paid out of the prizes, even if the balances agree', async () => {
    await tamper(
      `alter table transfers drop constraint transfers_legs_follow_kind`,
      `update transfers set debit_id = '${houseLedgerId('house_prizes', LIVE_HOUSE)}' where kind = 'purse'`,
      `update ledger_accounts set balance_cents = balance_cents + 500 where kind = 'house_purses' and environment = 'live'`,
      `update ledger_accounts set balance_cents = balance_cents - 500 where kind = 'house_prizes' and environment = 'live'`,
    );
    expect(await auditViolations(wallet)).toEqual({ one_environment_per_transfer: 1n, guards_are_in_place: 1n });
  });

  it('the wallet’s audit finds a purse that became an award', async () => {
    await tamper(
      `alter table payouts drop constraint payouts_name_attempt_or_round`,
      `alter table transfers drop constraint transfers_purse_names_its_round`,
      `update payouts set round_id = null where status = 'paid'`,
      `update transfers set round_id = null`,
    );
    expect(await auditViolations(wallet)).toEqual({
      one_transfer_per_paid_payout: 1n,
      payments_name_their_owner: 1n,
      guards_are_in_place: 2n,
    });
  });

  it('the wallet’s audit finds a fee and a payout whose ids carry no contest service’s tag, or the wrong one', async () => {
    const id = newId();
    await tamper(
      `update transfers set attempt_id = '${id}' where kind in ('fee', 'refund') and attempt_id =
        (select attempt_id from transfers where kind = 'refund')`,
      `update payouts set award_id = '${id}' where status = 'held' and round_id is not null`,
    );
    expect(await auditViolations(wallet)).toEqual({ payments_name_their_owner: 2n });
    await tamper(`update payouts set attempt_id = '${newOwnedId('tournament')}' where status = 'held'
      and attempt_id is not null`);
    expect(await auditViolations(wallet)).toEqual({ payments_name_their_owner: 3n });
  });

  it('the wallet’s audit finds a transfer across environments', async () => {
    await tamper(
      `alter table transfers drop constraint transfers_legs_follow_kind`,
      `update transfers set environment = 'test' where kind = 'deposit'`,
    );
    expect(await auditViolations(wallet)).toEqual({ one_environment_per_transfer: 1n, guards_are_in_place: 1n });
  });

  it('the wallet’s audit finds play money that moved between programs, even if the balances of test agree', async () => {
    const [from, to] = [
      await addPlayer(wallet, { environment: Environment.TEST, balanceCents: 5_00n }),
      await addPlayer(wallet, { environment: Environment.TEST, balanceCents: 5_00n }),
    ];
    expect(await auditViolations(wallet)).toEqual({});
    const ledgers = [from, to].map(({ accountId }) => playerLedgerId(accountId, 'test'));
    await tamper(
      `update ledger_accounts set balance_cents = 400 where id = '${ledgers[0]}'`,
      `update ledger_accounts set balance_cents = 600 where id = '${ledgers[1]}'`,
    );
    expect(await auditViolations(wallet)).toEqual({
      balance_is_sum_of_transfers: 2n,
      balances_of_a_house_sum_to_zero: 2n,
    });
  });

  it('the wallet’s audit finds a transfer out of another program’s house', async () => {
    const [own, other] = [
      await addPlayer(wallet, { environment: Environment.TEST, balanceCents: 5_00n }),
      await addPlayer(wallet, { environment: Environment.TEST, balanceCents: 5_00n }),
    ];
    const house = ({ player: { tenant } }: TestPlayer) => houseLedgerId('external_cash', tenant?.programId ?? '');
    await tamper(
      `alter table transfers drop constraint transfers_legs_follow_kind`,
      `update transfers set debit_id = '${house(other)}' where debit_id = '${house(own)}'`,
      `update ledger_accounts set balance_cents = 0 where id = '${house(own)}'`,
      `update ledger_accounts set balance_cents = -1000 where id = '${house(other)}'`,
    );
    expect(await auditViolations(wallet)).toEqual({
      balances_of_a_house_sum_to_zero: 2n,
      one_environment_per_transfer: 1n,
      guards_are_in_place: 1n,
    });
  });

  it('the wallet’s audit finds a house that lacks an account, and an account without a house', async () => {
    const { player: sandboxed } = await addPlayer(wallet, { environment: Environment.TEST });
    const programId = sandboxed.tenant?.programId ?? '';
    await tamper(`delete from ledger_accounts where id = '${houseLedgerId('house_prizes', programId)}'`);
    expect(await auditViolations(wallet)).toEqual({ houses_are_complete: 1n });
    await tamper(`delete from houses where id = '${programId}'`);
    expect(await auditViolations(wallet)).toEqual({ houses_are_complete: 3n });
  });

  it('the wallet’s audit finds a person’s test link and play money, and a link of a severed pair', async () => {
    const programId = player.player.tenant?.programId ?? '';
    await tamper(`update player_links set environment = 'test', house_id = program_id`);
    expect(await auditViolations(wallet)).toEqual({ players_stay_with_their_house: 1n });
    await tamper(`update player_links set environment = 'live', house_id = '${LIVE_HOUSE}'`);
    await tamper(`insert into ledger_accounts (id, kind, environment, account_id, house_id)
      values (gen_random_uuid(), 'player', 'test', '${player.accountId}', '${programId}')`);
    expect(await auditViolations(wallet)).toEqual({ players_stay_with_their_house: 1n });
    await tamper(`update program_accounts set severed = true, severed_at = now()`);
    expect(await auditViolations(wallet)).toEqual({ players_stay_with_their_house: 2n });
  });

  it('the wallet’s audit finds a dropped foreign key of the houses, validated or not', async () => {
    await tamper(
      `alter table transfers drop constraint transfers_player_plays_with_the_house`,
      `alter table player_links drop constraint player_links_pair_is_not_severed`,
    );
    expect(await auditViolations(wallet)).toEqual({ guards_are_in_place: 2n });
  });

  it('the wallet’s audit finds a player’s balance below zero', async () => {
    await tamper(
      `alter table ledger_accounts drop constraint ledger_accounts_never_overdrawn`,
      `update ledger_accounts set balance_cents = -1 where id = '${ledgerId}'`,
    );
    expect(await auditViolations(wallet)).toMatchObject({ no_player_below_zero: 1n });
  });

  it('the wallet’s audit counts violations of real money and of play money separately', async () => {
    const damage = (environment: string) =>
      tamper(
        `update ledger_accounts set balance_cents = balance_cents + 1 where id = (
           select id from ledger_accounts where environment = '${environment}' order by id limit 1)`,
      );
    const found = async () => {
      const { checks } = await ok(wallet.client.audit({}));
      const broken = checks.filter((check) => check.violations > 0n);
      expect(broken.map(({ id }) => id)).toContain('balances_sum_to_zero');
      return broken.map(({ violations, testViolations }) => [violations, testViolations]);
    };
    await damage('live');
    for (const counts of await found()) expect(counts).toEqual([1n, 0n]);
    await damage('test');
    for (const counts of await found()) expect(counts).toEqual([2n, 1n]);
  });

  it('the wallet’s audit finds a guard that was dropped or switched off', async () => {
    await tamper(
      `alter table transfers disable trigger transfers_append_only`,
      `drop index transfers_one_refund_per_fee`,
    );
    const { checks } = await ok(wallet.client.audit({}));
    const found = checks.filter((check) => check.violations > 0n);
    expect(found.map((check) => [check.id, check.examples])).toEqual([
      ['guards_are_in_place', ['transfers_one_refund_per_fee', 'transfers_append_only']],
    ]);
  });

  it('the wallet’s audit finds a payment that was deposited twice', async () => {
    await tamper(
      `drop index transfers_one_deposit_per_reference`,
      `insert into transfers (id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id,
        player_balance_after_cents, reference, created_at)
       select gen_random_uuid(), state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id,
        player_balance_after_cents, reference, created_at from transfers where kind = 'deposit'`,
    );
    expect(await auditViolations(wallet)).toMatchObject({ one_deposit_per_reference: 1n });
  });

  it('the wallet’s audit finds payouts whose count of their program is repeated or missing', async () => {
    await tamper(
      `insert into program_limits (program_id, environment, paid_cents)
         select distinct program_id, environment, 100000000 from payouts on conflict (program_id, environment) do update set paid_cents = 100000000`,
      `update payouts set program_paid_cents = 99999999 where status = 'paid'`,
    );
    const paid = await wallet.database.query<{ paid: bigint }>({
      text: `select count(*) as paid from payouts where status = 'paid'`,
    });
    const overlapping = BigInt(paid[0]?.paid ?? 0) - 1n;
    expect(overlapping).toBeGreaterThan(0n);
    expect(await auditViolations(wallet)).toEqual({ program_payouts_keep_the_count: overlapping });
    await tamper(`update program_limits set paid_cents = 0`);
    expect(await auditViolations(wallet)).toEqual({ program_payouts_keep_the_count: overlapping + 1n });
  });

  it('the wallet’s audit finds an award and a fee beyond the limit of their program', async () => {
    await ok(wallet.client.payAwards({ payments: [awardOf(player, 1_00n)] }));
    await tamper(
      `update payouts set program_limit_cents = amount_cents - 1 where status = 'paid' and round_id is null`,
      `update transfers set program_limit_cents = 199 where kind = 'fee' and state = 'posted'`,
    );
    const { checks } = await ok(wallet.client.audit({}));
    expect(checks.filter((check) => check.violations > 0n).map((check) => [check.id, check.violations])).toEqual([
      ['program_payouts_within_limit', 1n],
      ['program_fees_within_limit', 1n],
    ]);
  });

  it('an award beyond its own limit is no violation if another award of the 24 hours had a limit above their sum', async () => {
    const { accountId } = player;
    await ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false, enforcementFlag: false }));
    const later = awardOf(player, 2_00n);
    await ok(wallet.client.payAwards({ payments: [later] }));
    await tamper(
      `update payouts set program_limit_cents = 500 where status = 'paid' and round_id is null`,
      `update payouts set program_limit_cents = 100, paid_at = paid_at + interval '23:59:59.999' where award_id = '${later.awardId}'`,
    );
    expect(await auditViolations(wallet)).toEqual({});
    await tamper(`update payouts set paid_at = paid_at + interval '1 ms' where award_id = '${later.awardId}'`);
    expect(await auditViolations(wallet)).toEqual({ program_payouts_within_limit: 1n });
  });

  it('an audit is aborted if its caller is gone', async () => {
    const run = audit({ database: wallet.database });
    await expect(run({}, { signal: AbortSignal.abort(new Error('the caller is gone')) })).rejects.toThrow(
      'the caller is gone',
    );
  });
});

describe('constraints of the wallet’s tables', () => {
  beforeAll(openUsedWallet);
  afterAll(() => wallet[Symbol.asyncDispose]());

  const line = `state, kind, environment, house_id, debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents`;

  it('the database refuses to delete or truncate accounts of the ledger, including the house’s', async () => {
    for (const text of [
      `delete from ledger_accounts where id = '${houseLedgerId('house_fees', LIVE_HOUSE)}'`,
      `truncate ledger_accounts cascade`,
    ]) {
      await expect(wallet.database.query({ text })).rejects.toThrow('accounts of the ledger are kept');
    }
  });

  it('the database refuses to change, delete or truncate transfers', async () => {
    for (const text of [
      `update transfers set amount_cents = 1`,
      `delete from transfers`,
      `truncate transfers cascade`,
    ]) {
      await expect(wallet.database.query({ text })).rejects.toThrow('append-only');
    }
  });

  it.each([
    [
      'an overdrawn player',
      `update ledger_accounts set balance_cents = -1 where kind = 'player'`,
      'ledger_accounts_never_overdrawn',
    ],
    [
      'a player who may overdraw',
      `update ledger_accounts set may_overdraw = true where kind = 'player'`,
      'ledger_accounts_only_the_house_overdraws',
    ],
    [
      'a sandbox switch in live',
      `update ledger_accounts set hold_next_award = true where kind = 'player'`,
      'ledger_accounts_hold_is_sandbox_only',
    ],
    [
      'a payout that is paid without a transfer',
      `update payouts set status = 'paid' where status = 'held'`,
      'payouts_paid_iff_money_moved',
    ],
    [
      'a held payout without a reason',
      `update payouts set reason = null where status = 'held'`,
      'payouts_withheld_says_why',
    ],
    [
      'a payout of an attempt and of a round at once',
      `update payouts set round_id = gen_random_uuid() where attempt_id is not null`,
      'payouts_name_attempt_or_round',
    ],
    [
      'a payout of neither an attempt nor a round',
      `update payouts set round_id = null where round_id is not null`,
      'payouts_name_attempt_or_round',
    ],
    [
      'an address in upper case',
      `insert into accounts (id, email, date_of_birth, jurisdiction, verification_level, house_id, created_at)
        select gen_random_uuid(), upper('X' || email), date_of_birth, jurisdiction, verification_level, house_id, created_at from accounts`,
      'accounts_email_is_lower_case',
    ],
    [
      'a person another address',
      `update accounts set email = 'x' || email where house_id = '${LIVE_HOUSE}'`,
      'the e-mail and date of birth of a person never change',
    ],
  ])('the database refuses %s in the wallet’s tables', async (_, text, constraint) => {
    await expect(wallet.database.query({ text })).rejects.toThrow(constraint);
  });

  it.each([
    [
      'a transfer between the wrong accounts',
      { credit_id: 'debit_id', debit_id: 'credit_id' },
      'transfers_legs_follow_kind',
    ],
    ['a transfer of nothing', { amount_cents: '0' }, 'transfers_amount_is_positive'],
    ['a transfer without a leg', { credit_id: 'null' }, 'transfers_posted_is_complete'],
    ['a tombstone with legs', { state: `'tombstone'` }, 'transfers_tombstone_moves_nothing'],
    ['a fee without its attempt', { attempt_id: 'null' }, 'transfers_fee_names_its_attempt'],
    ['a second fee of one attempt', {}, 'transfers_one_fee_per_attempt'],
    ['a posted fee with a refusal', { refusal_code: `'blocked'` }, 'transfers_refusal_only_on_tombstone'],
    [
      'a fee of an unknown player',
      { player_ledger_id: 'gen_random_uuid()', debit_id: 'gen_random_uuid()' },
      'transfers_',
    ],
  ])('the database refuses to store %s', async (_, change, constraint) => {
    const columns = `${line}, attempt_id, refusal_code, created_at`.split(', ');
    const values = columns.map((column) => (change as Record<string, string>)[column] ?? column);
    const text = `insert into transfers (id, ${columns.join(', ')})
      select gen_random_uuid(), ${values.join(', ')} from transfers where kind = 'fee' and state = 'posted' limit 1`;
    await expect(wallet.database.query({ text })).rejects.toThrow(constraint);
  });

  const prizes = `'${houseLedgerId('house_prizes', LIVE_HOUSE)}'`;

  it.each([
    ['a purse out of the prizes', { debit_id: prizes }, 'transfers_legs_follow_kind'],
    [
      'an award out of the purses',
      { kind: `'award'`, round_id: 'null', attempt_id: 'gen_random_uuid()' },
      'transfers_legs_follow_kind',
    ],
    ['a purse without its round', { round_id: 'null' }, 'transfers_purse_names_its_round'],
    ['a purse with an attempt', { attempt_id: 'gen_random_uuid()' }, 'transfers_purse_names_its_round'],
    ['an award with a round', { kind: `'award'`, debit_id: prizes }, 'transfers_purse_names_its_round'],
    ['a purse without its award id', { award_id: 'null' }, 'transfers_award_names_its_award'],
    ['a second transfer of one purse', {}, 'transfers_one_transfer_per_award'],
    [
      'an award under the award id of a purse',
      { kind: `'award'`, round_id: 'null', attempt_id: 'gen_random_uuid()', debit_id: prizes },
      'transfers_one_transfer_per_award',
    ],
  ])('the database refuses to post %s', async (_, change, constraint) => {
    const columns = `${line}, attempt_id, round_id, award_id, created_at`.split(', ');
    const values = columns.map((column) => (change as Record<string, string>)[column] ?? column);
    const text = `insert into transfers (id, ${columns.join(', ')})
      select gen_random_uuid(), ${values.join(', ')} from transfers where kind = 'purse'`;
    await expect(wallet.database.query({ text })).rejects.toThrow(constraint);
  });
});
