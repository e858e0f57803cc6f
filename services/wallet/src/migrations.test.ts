import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createDatabase } from '@laurel/postgres';
import { migrate } from '@laurel/postgres/migrate';
import { roleOf } from '@laurel/postgres/roles';
import { Environment } from '@laurel/proto/common';
import { type FeeCharge, FeeState, PayoutStatus } from '@laurel/proto/wallet';
import { createDatabaseBefore, createTestDatabase } from '@laurel/testing';
import { feeTransferId, newId, newOwnedId } from '@laurel/values/ids';
import { FIRST_INSTANT, LAST_INSTANT } from '@laurel/values/instant';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { houseLedgerId, LIVE_HOUSE, playerLedgerId, SHARED_SANDBOX } from './domain/ledger.ts';
import {
  auditViolations,
  awardOf,
  balanceOf,
  charge,
  chargeOf,
  MIGRATIONS,
  ok,
  openTestWallet,
  queryOf,
  refusalOf,
  type TestPlayer,
  type TestWallet,
} from './wallet.fixture.ts';

/** The last migration before programs had their own houses in test. */
const BEFORE = '0008';

describe('migrating a database from before instants had bounds', () => {
  it('the migration moves a self-exclusion beyond the bounds to the nearest bound', async () => {
    await using older = await createDatabaseBefore({ migrations: MIGRATIONS, before: '0017' });
    const ends = ['9999-12-31T23:59:59-05:00', 'infinity', '0001-01-01T00:00:00Z', '2030-01-01T00:00:00Z'];
    const ids = ends.map(() => newId());
    await older.database.query(
      {
        text: `insert into accounts (id, email, date_of_birth, jurisdiction, verification_level, self_excluded_until, house_id, created_at)
          select id, id || '@example.com', '1990-01-01', 'US-CA', 3, until, '${LIVE_HOUSE}', now()
          from unnest($1::uuid[], $2::timestamptz[]) as old (id, until)`,
      },
      [ids, ends],
    );
    await older.migrate();
    const text = 'select self_excluded_until as until from accounts order by array_position($1::uuid[], id)';
    expect(await older.database.query({ text }, [ids])).toEqual(
      [LAST_INSTANT, LAST_INSTANT, FIRST_INSTANT, new Date('2030-01-01T00:00:00Z')].map((until) => ({ until })),
    );
  });
});

describe('migrating a database from before there were houses', () => {
  let wallet: TestWallet;
  const [programA, programB] = [newId(), newId()];
  const [real, own, shared, idle] = [newId(), newId(), newId(), newId()];
  const fees = { real: newOwnedId('challenge'), live: newOwnedId('challenge'), own: newOwnedId('challenge') };
  /** Attempts whose fee has a tombstone: refused, and abandoned before the charge arrived. */
  const tombstones = { refused: newOwnedId('challenge'), abandoned: newOwnedId('challenge') };
  const players = {
    live: playerOf(real, programA, Environment.LIVE),
    real: playerOf(real, programA, Environment.TEST),
    own: playerOf(own, programA, Environment.TEST),
  };
  /** Near the limit of a bigint: one more deposit of the old size would overflow it. */
  const flood = 9_223_372_036_854_700_000n;

  beforeAll(async () => {
    // The test roles get their names from the folder, so the folder's name contains the service's
    // name.
    const draft = await mkdtemp(join(tmpdir(), 'laurel-test-migrations-'));
    const folder = join(draft, 'wallet', 'migrations');
    await mkdir(folder, { recursive: true });
    const from = fileURLToPath(MIGRATIONS);
    const old = (await readdir(from)).filter((name) => name.slice(0, 4) <= BEFORE);
    await Promise.all(old.map((name) => cp(join(from, name), join(folder, name))));
    const database = await createTestDatabase({ migrations: pathToFileURL(`${folder}/`) });
    await rm(draft, { recursive: true });
    const connection = createDatabase({ url: database.url, maxConnections: 1, applicationName: 'wallet-test' });
    await connection.transaction(async (tx) => {
      for (const text of history()) await tx.query({ text });
    });
    await connection[Symbol.asyncDispose]();
    const grants = { file: new URL('../grants.sql', MIGRATIONS), runningRole: roleOf(database.runningUrl) };
    await migrate({ url: database.url, directory: MIGRATIONS, grants });
    wallet = await openTestWallet({}, database);
  });

  afterAll(async () => {
    expect(await auditViolations(wallet)).toEqual({});
    await wallet[Symbol.asyncDispose]();
  });

  function playerOf(accountId: string, programId: string, environment: Environment): TestPlayer {
    const player = { tenant: { programId, environment }, playerRef: `ref of ${accountId}` };
    return { accountId, email: `${accountId}@example.com`, player };
  }

  /** Rows that the previous release wrote: people, sandbox accounts, links, deposits and fees. */
  function history(): string[] {
    const account = (id: string, sandboxOnly: boolean) =>
      `insert into accounts (id, email, date_of_birth, jurisdiction, verification_level, sandbox_only, created_at)
       values ('${id}', '${id}@example.com', '1990-01-01', 'US-CA', 3, ${sandboxOnly}, now())`;
    const link = (id: string, program: string, environment: string) =>
      `insert into player_links (program_id, environment, player_ref, account_id, created_at)
       values ('${program}', '${environment}', 'ref of ${id}', '${id}', now())`;
    const ledger = (id: string, environment: 'test' | 'live') =>
      `insert into ledger_accounts (id, kind, environment, account_id)
       values ('${playerLedgerId(id, environment)}', 'player', '${environment}', '${id}')`;
    const move = (id: string, environment: 'test' | 'live', cents: bigint, balance: bigint, attempt?: string) => {
      const player = `'${playerLedgerId(id, environment)}'`;
      const house = attempt === undefined ? 'external_cash' : 'house_fees';
      const legs = `'${houseLedgerId(house, environment === 'live' ? LIVE_HOUSE : SHARED_SANDBOX)}'`;
      const [debit, credit] = attempt === undefined ? [legs, player] : [player, legs];
      const [transferId, kind, attemptId, reference] =
        attempt === undefined
          ? [newId(), 'deposit', 'null', `'start'`]
          : [feeTransferId(attempt), 'fee', `'${attempt}'`, 'null'];
      return [
        `insert into transfers (id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id,
           player_balance_after_cents, attempt_id, reference, created_at)
         values ('${transferId}', 'posted', '${kind}', '${environment}', ${debit}, ${credit}, ${cents}, ${player}, ${balance},
           ${attemptId}, ${reference}, now())`,
        `update ledger_accounts set balance_cents = balance_cents - ${cents} where id = ${debit}`,
        `update ledger_accounts set balance_cents = balance_cents + ${cents} where id = ${credit}`,
      ];
    };
    const tombstone = (attempt: string, refusal: string) =>
      `insert into transfers (id, state, kind, environment, attempt_id, refusal_code, created_at)
       values ('${feeTransferId(attempt)}', 'fenced', 'fee', 'live', '${attempt}', ${refusal}, now())`;
    return [
      account(real, false),
      account(own, true),
      account(shared, true),
      account(idle, true),
      link(real, programA, 'live'),
      link(real, programA, 'test'),
      link(own, programA, 'test'),
      link(shared, programA, 'test'),
      link(shared, programB, 'test'),
      ledger(real, 'live'),
      ledger(real, 'test'),
      ledger(own, 'test'),
      ledger(shared, 'test'),
      ...move(real, 'live', 50_00n, 50_00n),
      ...move(real, 'live', 1_00n, 49_00n, fees.live),
      ...move(real, 'test', flood, flood),
      ...move(real, 'test', 1_00n, flood - 1_00n, fees.real),
      ...move(own, 'test', 100_00n, 100_00n),
      ...move(own, 'test', 10_00n, 90_00n, fees.own),
      ...move(shared, 'test', 5_00n, 5_00n),
      tombstone(tombstones.refused, `'insufficient_funds'`),
      tombstone(tombstones.abandoned, 'null'),
    ];
  }

  it('a database that was migrated to houses satisfies every invariant', async () => {
    expect(await auditViolations(wallet)).toEqual({});
  });

  it('the migration to houses removes test links that no key may create', async () => {
    const accountOf = async (accountId: string) =>
      (await ok(wallet.client.updateAccount({ accountId, clearSelfExclusion: false }))).account;
    const facts = await Promise.all([real, own, shared, idle].map(accountOf));
    expect(facts.map((account) => [account?.sandboxOnly, account?.programId])).toEqual([
      [false, undefined],
      [true, programA],
      [true, undefined],
      [true, undefined],
    ]);
    const named = [players.live, players.real, players.own].map(({ player }) => player);
    const both = [programA, programB].map((program) => playerOf(shared, program, Environment.TEST).player);
    expect(await ok(wallet.client.resolvePlayers({ players: [...named, ...both] }))).toEqual({
      accountIds: [real, '', own, '', ''],
    });
    const { email, player } = players.real;
    expect(await refusalOf(wallet.client.putPlayerLink({ player, email }))).toBe('not_found');
    for (const accountId of [real, shared, idle]) {
      const deposit = { accountId, environment: Environment.TEST, amountCents: 1n, reference: 'more' };
      expect(await refusalOf(wallet.client.deposit(deposit))).toBe('not_found');
    }
  });

  it('no fee can be posted under a tombstone from before migration 0012', async () => {
    const [refused, abandoned] = [tombstones.refused, tombstones.abandoned].map((attemptId) =>
      chargeOf(players.live, 1n, { attemptId, transferId: feeTransferId(attemptId) }),
    ) as [FeeCharge, FeeCharge];
    expect(await charge(wallet.client, refused)).toBe('insufficient_funds');
    expect(await charge(wallet.client, abandoned)).toBe('internal_error');
    const queries = [queryOf(refused, true), queryOf(abandoned, true)];
    expect(await ok(wallet.client.resolveFees({ queries }))).toEqual({
      resolutions: [
        { state: FeeState.TOMBSTONE, refusalCode: 'insufficient_funds' },
        { state: FeeState.TOMBSTONE, refusalCode: '' },
      ],
    });
    const ids = queries.map(({ transferId }) => transferId);
    const text = 'select distinct state from transfers where id = any ($1::uuid[])';
    expect(await wallet.database.query({ text }, [ids])).toEqual([{ state: 'fenced' }]);
    const again = `insert into transfers (id, state, kind, created_at) values ('${newId()}', 'fenced', 'fee', now())`;
    await expect(wallet.database.query({ text: again })).rejects.toThrow('transfers_state_is_known');
  });

  it('fees and prizes from before the migration to houses are refunded and paid', async () => {
    const { client } = wallet;
    const refunds = Object.values(fees).map((attempt) => ({
      feeTransferId: feeTransferId(attempt),
      reason: 'expired',
    }));
    expect((await ok(client.refundFees({ refunds }))).results.map(({ refunded }) => refunded)).toEqual([
      true,
      true,
      true,
    ]);
    const payments = Object.values(players).map((player) => awardOf(player, 2_00n));
    const { payouts } = await ok(client.payAwards({ payments }));
    expect(payouts.map(({ status }) => status)).toEqual(payments.map(() => PayoutStatus.PAID));
    await ok(client.putSandboxPlayer({ player: players.own.player, fundsCents: 7_00n }));
    expect(await charge(client, chargeOf(players.own, 1_00n))).toBe('posted');
    expect(await charge(client, chargeOf(players.live, 1_00n))).toBe('posted');
    const balances = await Promise.all(Object.values(players).map((player) => balanceOf(wallet, player)));
    expect(balances).toEqual([51_00n, flood + 2_00n, 108_00n]);
    // Other programs can fund their players, whatever happened to the sandbox that all programs
    // shared.
    const player = { tenant: { programId: programB, environment: Environment.TEST }, playerRef: 'new' };
    const { accountId } = await ok(client.putSandboxPlayer({ player, fundsCents: 10_000_00n }));
    expect(await balanceOf(wallet, { accountId, email: '', player })).toBe(10_000_00n);
  });
});
