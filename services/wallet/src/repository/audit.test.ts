/** The audit in slices finds what the audit of everything finds, however the ledger is damaged. */
import type { CheckResult } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  addPlayer,
  auditViolations,
  awardOf,
  charge,
  chargeOf,
  ok,
  openTestWallet,
  purseOf,
  queryOf,
  type TestPlayer,
  type TestWallet,
} from '../wallet.fixture.ts';
import { createLedgerAudit, runAudit } from './audit.ts';

const TABLES = [
  'transfers',
  'payouts',
  'ledger_accounts',
  'accounts',
  'player_links',
  'program_days',
  'environment_days',
];
/** Drops the constraints and unique indexes that would prevent the damage. */
const RULES = [
  'alter table transfers drop constraint transfers_legs_follow_kind',
  'alter table transfers drop constraint transfers_player_never_below_zero',
  'alter table ledger_accounts drop constraint ledger_accounts_never_overdrawn',
  'alter table payouts drop constraint payouts_count_includes_them',
  'drop index transfers_one_fee_per_attempt',
  'drop index transfers_one_refund_per_fee',
  'drop index transfers_one_transfer_per_award',
  'drop index transfers_one_deposit_per_reference',
];

/** Damages one row: `copy` takes a column's value from another row, `change` sets a new one. */
const copy =
  (table: string, key: string, column: string, where = 'true') =>
  (from: number, to: number) =>
    `
  update ${table} set ${column} = (select ${column} from ${table} where ${where} order by ${key} offset ${from} % (select count(*) from ${table} where ${where}) limit 1)
  where ${key} = (select ${key} from ${table} where ${where} order by ${key} offset ${to} % (select count(*) from ${table} where ${where}) limit 1)`;
const change =
  (table: string, key: string, what: string, where = 'true') =>
  (_: number, to: number) =>
    `update ${table} set ${what}
     where ${key} = (select ${key} from ${table} where ${where} order by ${key} offset ${to} % (select count(*) from ${table} where ${where}) limit 1)`;

const DAMAGES = {
  'another amount': change('transfers', 'id', 'amount_cents = amount_cents + 7', `state = 'posted'`),
  'another balance after': change('transfers', 'id', 'player_balance_after_cents = -3', `state = 'posted'`),
  'another payee': copy('transfers', 'id', 'credit_id', `state = 'posted'`),
  'another payer': copy('transfers', 'id', 'debit_id', `state = 'posted'`),
  'an unknown payee': change('transfers', 'id', 'credit_id = gen_random_uuid()', `state = 'posted'`),
  'another player': copy('transfers', 'id', 'player_ledger_id', `state = 'posted'`),
  'another environment': copy('transfers', 'id', 'environment', `state = 'posted'`),
  'no house': change('transfers', 'id', 'house_id = null', `state = 'posted'`),
  'a fee of another attempt': copy('transfers', 'id', 'attempt_id', `kind = 'fee'`),
  'a refund of another fee': copy('transfers', 'id', 'fee_transfer_id', `kind = 'refund'`),
  'a payment of another award': copy('transfers', 'id', 'award_id', `kind in ('award', 'purse')`),
  'a deposit of another reference': copy('transfers', 'id', 'reference', `kind = 'deposit'`),
  'another day': change('transfers', 'id', `created_at = created_at - interval '1 day'`, `state = 'posted'`),
  'a fee above its limit': change('transfers', 'id', 'program_limit_cents = 1', `kind = 'fee' and state = 'posted'`),
  'a transfer that is gone': (_: number, to: number) =>
    `delete from transfers where id = (select id from transfers order by id offset ${to} % (select count(*) from transfers) limit 1)`,
  'another amount of a payout': change('payouts', 'award_id', 'amount_cents = amount_cents + 1'),
  'a payout of another account': copy('payouts', 'award_id', 'account_id'),
  'a payout above its limit': change('payouts', 'award_id', 'program_limit_cents = 1', `status = 'paid'`),
  'another count of payouts': change('payouts', 'award_id', 'program_paid_cents = 100000', `status = 'paid'`),
  'another balance': change('ledger_accounts', 'id', 'balance_cents = balance_cents - 100000'),
  'an account of a house that is gone': (_: number, to: number) =>
    `delete from ledger_accounts where id = (select id from ledger_accounts where kind <> 'player'
     order by id offset ${to} % (select count(*) from ledger_accounts where kind <> 'player') limit 1)`,
  'an account in another house': copy('accounts', 'id', 'house_id'),
  'a link to another account': copy('player_links', 'player_ref', 'account_id'),
  'money of an environment’s day': change('environment_days', 'day', 'paid_cents = paid_cents + 1'),
  'money of a day': change('program_days', 'program_id', 'fees_cents = fees_cents + 1'),
} as const;

const damages = fc.array(
  fc.record({
    kind: fc.constantFrom(...(Object.keys(DAMAGES) as (keyof typeof DAMAGES)[])),
    from: fc.nat({ max: 100 }),
    to: fc.nat({ max: 100 }),
  }),
  { minLength: 1, maxLength: 3 },
);

let wallet: TestWallet;

/** Statements that the tables' triggers and constraints would refuse. */
async function tamper(...statements: readonly string[]): Promise<void> {
  await wallet.database.transaction(async (tx) => {
    await tx.query({ text: `set local session_replication_role = replica` });
    for (const text of statements) await tx.query({ text });
  });
}

/** A ledger with every kind of transfer, in both environments and two houses of test. */
beforeAll(async () => {
  wallet = await openTestWallet();
  for (const environment of [Environment.LIVE, Environment.LIVE, Environment.TEST, Environment.TEST]) {
    const player = await addPlayer(wallet, { environment, balanceCents: 20_00n });
    const { accountId } = player;
    await ok(wallet.client.deposit({ accountId, environment, amountCents: 1_00n, reference: 'again' }));
    const fees = [1_00n, 2_00n, 99_00n, 3_00n].map((cents) => chargeOf(player, cents));
    for (const fee of fees) await charge(wallet.client, fee);
    await ok(wallet.client.refundFees({ refunds: [{ feeTransferId: fees[0]?.transferId ?? '', reason: 'expired' }] }));
    await ok(wallet.client.payAwards({ payments: [awardOf(player, 3_00n)] }));
    await ok(wallet.client.payAwards({ payments: [purseOf(player, 5_00n)] }));
    await ok(wallet.client.payAwards({ payments: [awardOf(player, 2_00n)] }));
  }
  // Closes every day. The closed days have one row, of zero amounts under an unknown program.
  await wallet.database.query({
    text: `update day_counts set open_from = '2027-01-01', environments_open_from = '2027-01-01', next_run_at = '9999-01-01'`,
  });
  await wallet.database.query({
    text: `
    insert into program_days (day, environment, program_id, fees_cents, refunds_cents, paid_cents, held_cents, denied_cents)
    select (created_at at time zone 'UTC')::date, environment, gen_random_uuid(), 0, 0, 0, 0, 0 from transfers limit 1`,
  });
  await wallet.database.query({
    text: `insert into environment_days select day, environment, 0, 0, 0, 0, 0 from program_days`,
  });
  for (const table of TABLES) await tamper(`create table saved_${table} as table ${table}`);
});
afterAll(() => wallet[Symbol.asyncDispose]());

beforeEach(restore);

async function restore(): Promise<void> {
  await tamper(
    ...TABLES.toReversed().map((table) => `delete from ${table}`),
    ...TABLES.map((table) => `insert into ${table} overriding system value select * from saved_${table}`),
    'delete from audit_passes',
    'delete from audit_findings',
  );
}

/** SQL: the number of the page on which a row is. */
const PAGE = '(ctid::text::point)[0]';

const counts = (results: readonly CheckResult[]) =>
  Object.fromEntries(results.map(({ id, violations, testViolations }) => [id, [violations, testViolations]] as const));

describe('the audit in slices', () => {
  it('the audit in slices finds a damaged row within a day, even if the row is never written again', async () => {
    const audit = createLedgerAudit(wallet.database, { runBudgetMs: 0, maxPageSize: 3 });
    const before = counts(await audit.run());
    await tamper(`update transfers set amount_cents = amount_cents + 7 where seq = (
      select max(seq) from transfers where kind = 'refund')`);
    const isFound = async () => counts(await audit.run()).one_refund_per_fee_equal_and_opposite?.[0] === 1n;
    expect(before.one_refund_per_fee_equal_and_opposite).toEqual([0n, 0n]);
    // A day has 144 runs. After 72 runs the pass is half a day old, and the next run would complete
    // it.
    let runs = 1;
    for (; runs < 72; runs += 1) {
      await tamper(
        `update audit_passes set started_at = started_at - interval '10 minutes'`,
        // An empty tail: no transfer counts as new.
        `update audit_passes set tails = '{"transfers by instant": {"from": 1e14, "to": 1e14}}'`,
      );
      if (await isFound()) break;
    }
    expect(runs).toBeGreaterThan(1);
    expect(runs).toBeLessThan(72);
  });

  it('each run finds damaged new transfers in pages that became free in the middle of the table', async () => {
    const players = [];
    for (let count = 0; count < 4; count += 1) players.push(await addPlayer(wallet, { balanceCents: 5_00n }));
    const [payer, refunded, winner, depositor] = players as [TestPlayer, TestPlayer, TestPlayer, TestPlayer];
    const oldFee = chargeOf(refunded, 1_00n);
    await charge(wallet.client, oldFee);
    await tamper(`insert into transfers (id, state, kind, attempt_id, created_at)
      select gen_random_uuid(), 'tombstone', 'fee', gen_random_uuid(), '2020-01-01' from generate_series(1, 1000)`);
    const audit = createLedgerAudit(wallet.database, { runBudgetMs: 0, maxPageSize: 3 });
    await audit.run();
    await audit.run();
    await tamper(`delete from transfers where created_at = '2020-01-01' and ${PAGE} between 4 and 8`);
    await wallet.database.query({ text: 'vacuum transfers' });

    wallet.clock.now = new Date();
    // New connections ask for the pages that the vacuum found free.
    const client = await wallet.startReplica();
    const fee = chargeOf(payer, 1_00n);
    const award = awardOf(winner, 1_00n);
    await charge(client, fee);
    await ok(client.refundFees({ refunds: [{ feeTransferId: oldFee.transferId, reason: 'expired' }] }));
    await ok(client.payAwards({ payments: [award] }));
    const { accountId } = depositor;
    await ok(client.deposit({ accountId, environment: Environment.LIVE, amountCents: 1_00n, reference: 'new' }));
    const tombstone = chargeOf(payer, 1_00n);
    await ok(client.resolveFees({ queries: [queryOf(tombstone, true)] }));
    await tamper(
      `update transfers set amount_cents = amount_cents + 7 where state = 'posted' and created_at > now() - interval '1 hour'`,
      `update transfers set attempt_id = '${fee.attemptId}' where id = '${tombstone.transferId}'`,
    );

    const rows = await wallet.database.query<{ id: string; kind: string; page: number; pages: number }>({
      text: `select id, kind, ${PAGE}::int as page, (pg_relation_size('transfers') / 8192)::int as pages
        from transfers where created_at > now() - interval '1 hour' and state = 'posted'`,
    });
    expect(rows.map(({ kind }) => kind).sort()).toEqual(['award', 'deposit', 'fee', 'refund']);
    for (const { page, pages } of rows) expect(page).toBeLessThan(pages - 4);
    const found = new Map((await audit.run()).map(({ id, examples }) => [id, examples]));
    expect(found.get('running_balance_is_unbroken')?.toSorted()).toEqual(rows.map(({ id }) => id).sort());
    expect(found.get('tombstones_move_nothing')).toEqual([tombstone.transferId]);
  });

  it('a pass of the audit that is half a day old completes in one run', async () => {
    const audit = createLedgerAudit(wallet.database, { runBudgetMs: 0, maxPageSize: 3 });
    await audit.run();
    await audit.run();
    await tamper(
      `update payouts set amount_cents = amount_cents + 1 where award_id = (select max(award_id::text)::uuid from payouts)`,
      `update audit_passes set started_at = started_at - interval '12 hours'`,
    );
    expect(counts(await audit.run()).one_transfer_per_paid_payout?.[0]).toBe(1n);
  });

  it('fees and deposits during a pass are no violation', async () => {
    await tamper(
      `delete from program_days`,
      `delete from environment_days`,
      `update day_counts set open_from = '2000-01-01'`,
    );
    // The audit compares a row's time with the database's clock.
    wallet.clock.now = new Date();
    const audit = createLedgerAudit(wallet.database, { runBudgetMs: 0, maxPageSize: 5 });
    const player = await addPlayer(wallet, { balanceCents: 20_00n });
    await audit.run();
    for (let runs = 0; runs < 40; runs += 1) {
      await charge(wallet.client, chargeOf(player, 10n));
      expect((await audit.run()).filter(({ violations }) => violations > 0n)).toEqual([]);
    }
    expect(await auditViolations(wallet)).toEqual({});
    await tamper(`update day_counts set open_from = '2027-01-01'`);
  });

  it('the audit in slices finds that a player’s ledger account is missing', async () => {
    await tamper(
      `delete from ledger_accounts where id = (select id from ledger_accounts where kind = 'player' limit 1)`,
    );
    const audit = createLedgerAudit(wallet.database, { maxPageSize: 3 });
    expect(counts(await audit.run())).toEqual(counts(await runAudit(wallet.database)));
  });

  it('the audit in slices finds the same violations as the audit of everything', async () => {
    await tamper(...RULES);
    await fc.assert(
      fc.asyncProperty(damages, fc.integer({ min: 1, max: 20 }), async (drawn, maxPageSize) => {
        await restore();
        await tamper(...drawn.map(({ kind, from, to }) => DAMAGES[kind](from, to)));
        const whole = await runAudit(wallet.database);
        const sliced = await createLedgerAudit(wallet.database, { maxPageSize }).run();
        expect(counts(sliced)).toEqual(counts(whole));
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});
