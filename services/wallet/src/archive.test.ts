/** Months of the ledger, which the wallet itself posted. */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Month, monthOf, rowsIn, verifyMonth, writeMonth } from '@laurel/attempts/archive';
import { createDatabase, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { createSigner } from '@laurel/signature';
import { createTestDatabase, type TestDatabase } from '@laurel/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archivedMonths } from './archived-months.ts';
import { inspectAfter, inspectMonth } from './domain/archived-month.ts';
import {
  addPlayer,
  auditViolations,
  awardOf,
  charge,
  chargeOf,
  MIGRATIONS,
  ok,
  openTestWallet,
  purseOf,
  queryOf,
  type TestPlayer,
  type TestWallet,
} from './wallet.fixture.ts';

const SEED = Buffer.alloc(32, 5);
const SIGNER = createSigner(SEED);
const KEYS = [{ publicKey: SIGNER.publicKey, from: new Date(0), until: null }];

const held = new AsyncDisposableStack();
let scratch: TestDatabase;
let wallet: TestWallet;
let database: Database;
let root: string;
let folder: string;
let live: TestPlayer;

const month = (name: string): Month => {
  const found = monthOf(name);
  if (found === null) throw new Error(`${name} is no month`);
  return found;
};
const write = (name: string, keys = KEYS) =>
  writeMonth(month(name), { database, signer: SIGNER, root, source: archivedMonths, keys });
const verify = (of: string) => verifyMonth(of, { months: archivedMonths, keys: KEYS });
const at = (instant: string) => {
  wallet.clock.now = new Date(instant);
};

/** Returns the rows of a table's file. */
async function rowsOf(name: string, table: string): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for await (const row of rowsIn(join(root, 'wallet', name))(table)) found.push({ ...row });
  return found;
}

/** January has every kind of transfer; the refund of its last fee and more are of February. */
async function play(): Promise<void> {
  at('2025-01-10T12:00:00.000Z');
  const { client } = wallet;
  live = await addPlayer(wallet, { balanceCents: 50_00n });
  const sandbox = await addPlayer(wallet, { environment: Environment.TEST, balanceCents: 9_00n });
  await charge(client, chargeOf(sandbox, 1_00n));
  const fees = [1_00n, 2_00n, 3_00n].map((cents) => chargeOf(live, cents));
  for (const fee of fees) {
    await charge(client, fee);
    wallet.clock.advance(60_000);
  }
  await ok(client.refundFees({ refunds: [{ feeTransferId: fees[0]?.transferId ?? '', reason: 'expired' }] }));
  await ok(client.payAwards({ payments: [awardOf(live, 4_00n)] }));
  await ok(client.payAwards({ payments: [purseOf(live, 5_00n)] }));
  await ok(client.resolveFees({ queries: [queryOf(chargeOf(live, 1_00n), true)] }));
  // Two replicas at the end of the month: the clock of the second is behind.
  at('2025-02-01T00:00:00.004Z');
  const late = chargeOf(live, 6_00n);
  await charge(client, late);
  at('2025-01-31T23:59:59.998Z');
  await charge(client, chargeOf(live, 7_00n));
  at('2025-02-01T00:00:00.006Z');
  await ok(client.refundFees({ refunds: [{ feeTransferId: late.transferId, reason: 'expired' }] }));
  at('2025-03-20T00:00:00.000Z');
  await ok(
    client.deposit({ accountId: live.accountId, environment: Environment.LIVE, amountCents: 1_00n, reference: 'more' }),
  );
}

beforeAll(async () => {
  scratch = held.use(await createTestDatabase({ migrations: MIGRATIONS }));
  wallet = held.use(await openTestWallet({}, scratch));
  database = held.use(createDatabase({ url: scratch.runningUrl, maxConnections: 3, applicationName: 'archive-test' }));
  root = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
  held.defer(() => rm(root, { recursive: true }));
  folder = join(root, 'wallet', '2025-01');
  await play();
  expect(await auditViolations(wallet)).toEqual({});
  await write('2025-01');
});
afterAll(() => held.disposeAsync());

describe('a month of the archive', () => {
  it('a month is the next part of each player’s statement, also where clocks of replicas differ', async () => {
    const january = (await rowsOf('2025-01', 'transfers')).filter(({ environment }) => environment === 'live');
    expect(january.map(({ kind, amount_cents: cents }) => [kind, cents])).toEqual([
      ['deposit', 50_00],
      ['fee', 1_00],
      ['fee', 2_00],
      ['fee', 3_00],
      ['refund', 1_00],
      ['award', 4_00],
      ['purse', 5_00],
      ['fee', 6_00],
      ['fee', 7_00],
    ]);
    expect(await write('2025-02')).toMatchObject({ isNew: true });
    expect((await rowsOf('2025-02', 'transfers')).map(({ kind }) => kind)).toEqual(['refund']);
    expect(await write('2025-03')).toMatchObject({ isNew: true });
    expect((await rowsOf('2025-03', 'transfers')).map(({ kind }) => kind)).toEqual(['deposit']);
    expect(await rowsOf('2025-01', 'tombstones')).toHaveLength(1);
  });

  it('the balances of a month are those after it, of each account that it moved', async () => {
    await write('2025-02');
    const balances = async (name: string, table: string) =>
      (await rowsOf(name, table))
        .filter(({ environment }) => environment === 'live')
        .map(({ kind = 'player', lines, moved_cents: moved, balance_cents: balance }) => [kind, lines, moved, balance]);
    expect(await balances('2025-01', 'player_balances')).toEqual([['player', 9, 41_00, 41_00]]);
    expect(await balances('2025-02', 'player_balances')).toEqual([['player', 1, 6_00, 47_00]]);
    expect(await balances('2025-01', 'house_balances')).toEqual([
      ['house_fees', 6, 18_00, 18_00],
      ['house_prizes', 1, -4_00, -4_00],
      ['external_cash', 1, -50_00, -50_00],
      ['house_purses', 1, -5_00, -5_00],
    ]);
    expect(await balances('2025-02', 'house_balances')).toEqual([['house_fees', 1, -6_00, 12_00]]);
    const { totals } = await verify(folder);
    const sorted = totals.map(({ table, environment, status, rows, cents }) =>
      [table, environment, status, rows, cents].join(' '),
    );
    expect(sorted.sort()).toEqual([
      'tombstones none tombstone 1 0',
      'transfers live award 1 400',
      'transfers live deposit 1 5000',
      'transfers live fee 5 1900',
      'transfers live purse 1 500',
      'transfers live refund 1 100',
      'transfers test deposit 1 900',
      'transfers test fee 1 100',
    ]);
  });

  it('a later run compares a written month with the database again', async () => {
    expect(await write('2025-01')).toMatchObject({ isNew: false });
    const tamper = (text: string) =>
      wallet.database.transaction(async (tx) => {
        await tx.query({ text: 'set local session_replication_role = replica' });
        await tx.query({ text });
      });
    await tamper(`update transfers set reason = 'voided' where kind = 'refund' and created_at < '2025-02-01'`);
    await expect(write('2025-01')).rejects.toThrow('rows of transfers, which are not the 11 of the database');
    await tamper(`update transfers set reason = 'expired' where kind = 'refund' and created_at < '2025-02-01'`);
    await tamper(`update ledger_accounts set balance_cents = balance_cents + 1 where kind = 'house_fees'`);
    await expect(write('2025-01')).rejects.toThrow('rows of house_balances');
    await tamper(`update ledger_accounts set balance_cents = balance_cents - 1 where kind = 'house_fees'`);
    expect(await write('2025-01')).toMatchObject({ isNew: false });
  });

  it('a month is written with a listed key only', async () => {
    const { publicKey } = createSigner(Buffer.alloc(32, 6));
    const other = [{ publicKey, from: new Date(0), until: null }];
    await expect(write('2024-12', other)).rejects.toThrow('no service has signed with this key');
  });

  it('verifying a written month finds any changed byte', async () => {
    const names = (await readdir(folder)).sort();
    const law = fc.asyncProperty(
      fc.nat(),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (fileAt, byteAt, change) => {
        const path = join(folder, names[fileAt % names.length] ?? '');
        const bytes = await readFile(path);
        const position = byteAt % bytes.length;
        const changed = Buffer.from(bytes);
        changed[position] = (changed[position] ?? 0) ^ change;
        // The line break at the end of the manifest may be another space.
        fc.pre(
          !(
            path.endsWith('.json') &&
            position === bytes.length - 1 &&
            /\s/.test(String.fromCharCode(changed[position]))
          ),
        );
        await writeFile(path, changed);
        try {
          await expect(verify(folder)).rejects.toThrow();
        } finally {
          await writeFile(path, bytes);
        }
      },
    );
    await fc.assert(law, { numRuns: 40 });
    await verify(folder);
  });
});

describe('the inspection of a month', () => {
  type Row = Record<string, unknown>;
  type Change = (row: Row) => Row | null;

  /** Inspects January with each row of one table changed, or left out. */
  const inspect = (table: string, change: Change) => {
    const rows = rowsIn(folder);
    async function* changed(of: string) {
      for await (const row of rows(of)) {
        const kept = of === table ? change({ ...row }) : row;
        if (kept !== null) yield kept;
      }
    }
    return inspectMonth(month('2025-01'), changed);
  };
  const where =
    (isWanted: (row: Row) => boolean, change: Change): Change =>
    (row) =>
      isWanted(row) ? change(row) : row;
  const isKind = (kind: string) => (row: Row) => row.kind === kind;
  const isFeeOf = (cents: number) => (row: Row) => row.kind === 'fee' && row.amount_cents === cents;

  it.each<[string, string, Change, string]>([
    ['a line left out', 'transfers', where(isKind('award'), () => null), 'does not follow'],
    ['the last line left out', 'transfers', where(isFeeOf(7_00), () => null), 'is not of the month'],
    ['every line left out', 'transfers', () => null, 'belongs to no other'],
    ['another amount', 'transfers', where(isKind('purse'), (row) => ({ ...row, amount_cents: 1 })), 'does not follow'],
    [
      'another payee',
      'transfers',
      where(isKind('award'), (row) => ({ ...row, credit_id: row.debit_id })),
      'is not a posted award',
    ],
    ['another house', 'transfers', where(isKind('award'), (row) => ({ ...row, debit_id: 'x' })), 'did not move'],
    [
      'a tombstone among the lines',
      'transfers',
      where(isKind('award'), (row) => ({ ...row, state: 'tombstone' })),
      'is not a posted award',
    ],
    ['a refund of another fee', 'transfers', refundOfAnother, 'is not equal to its fee'],
    [
      'a line of an earlier month',
      'transfers',
      where(isKind('award'), (row) => ({ ...row, created_at: '2024-12-31T23:59:59+00:00' })),
      'is not of the month',
    ],
    [
      'a last line of a later month',
      'transfers',
      where(isFeeOf(7_00), (row) => ({ ...row, created_at: '2025-02-01T00:00:00+00:00' })),
      'is not of the month',
    ],
    ['a balance left out', 'player_balances', () => null, 'is not that of its lines'],
    ['another balance', 'player_balances', (row) => ({ ...row, balance_cents: 1 }), 'is not that of its lines'],
    ['a house left out', 'house_balances', where(isKind('house_fees'), () => null), 'has no balance'],
    ['another sum of a house', 'house_balances', (row) => ({ ...row, moved_cents: 1 }), 'did not move'],
    [
      'a tombstone of another month',
      'tombstones',
      (row) => ({ ...row, created_at: '2025-02-01T00:00:00+00:00' }),
      'is not of the month',
    ],
    ['a tombstone that moves money', 'tombstones', (row) => ({ ...row, amount_cents: 1 }), 'moves something'],
  ])('finds %s', async (_, table, change, message) => {
    await expect(inspect(table, change)).rejects.toThrow(message);
  });

  it.each(['player_balances', 'house_balances'])(
    'finds %s that do not continue from the month before',
    async (table) => {
      await write('2025-02');
      const february = rowsIn(join(root, 'wallet', '2025-02'));
      const january = rowsIn(folder);
      await inspectAfter(january, february);
      async function* changed(of: string) {
        for await (const row of january(of)) yield of === table ? { ...row, balance_cents: -1 } : row;
      }
      await expect(inspectAfter(changed, february)).rejects.toThrow('does not continue from the month before');
    },
  );

  it('verifying a month compares it with the month before in the same folder', async () => {
    await write('2025-02');
    const copies = await mkdtemp(join(root, 'copies-'));
    await cp(join(root, 'wallet', '2025-02'), join(copies, '2025-02'), { recursive: true });
    await verify(join(copies, '2025-02'));
    await cp(folder, join(copies, '2025-01'), { recursive: true });
    await verify(join(copies, '2025-02'));
    // The houses of February in place of those of January.
    await cp(
      join(root, 'wallet', '2025-02', 'house_balances.jsonl.zst'),
      join(copies, '2025-01', 'house_balances.jsonl.zst'),
    );
    await expect(verify(join(copies, '2025-02'))).rejects.toThrow('does not continue from the month before');
  });

  /** The refund names the fee of 2.00, which it does not return whole. */
  function refundOfAnother(row: Row): Row {
    if (isFeeOf(1_00)(row)) return { ...row, id: 'x' };
    if (isFeeOf(2_00)(row)) return { ...row, id: 'y' };
    return row.kind === 'refund' ? { ...row, fee_transfer_id: 'y' } : row;
  }
});

describe('the command of the archive', () => {
  let keys: string;
  const archive = (argv: readonly string[], failpoints?: string) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('archive.ts', import.meta.url)), ...argv], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        WALLET_DATABASE_URL: scratch.runningUrl,
        RECEIPT_SIGNING_SEED: SEED.toString('base64'),
        ...(failpoints !== undefined && { FAILPOINTS_DIR: failpoints }),
      },
    });
  const writeTo = (to: string, failpoints?: string) =>
    archive(['--before', '2025-04', '--to', to, '--keys', keys], failpoints);

  beforeAll(async () => {
    keys = join(root, 'keys.json');
    const key = { public_key: SIGNER.publicKey.toString('base64'), from: new Date(0).toISOString(), until: null };
    await writeFile(keys, JSON.stringify({ keys: [key] }));
  });

  it.each([
    ['the files', 'wallet.archive.after-files', false],
    ['the rename', 'wallet.archive.after-rename', true],
  ])('the next run completes a month whose run was killed after %s', async (_, point, isThere) => {
    const to = await mkdtemp(join(root, 'killed-'));
    await writeFile(join(to, point), 'kill');
    expect(writeTo(to, to)).toMatchObject({ signal: 'SIGKILL' });
    expect((await readdir(join(to, 'wallet'))).includes('2025-01')).toBe(isThere);
    const again = writeTo(to);
    expect(again.stdout).toMatch(
      isThere ? /^wallet 2025-01: was there, verified again/ : /^wallet 2025-01: written and verified/,
    );
    expect(again.status).toBe(0);
    expect((await readdir(join(to, 'wallet'))).sort()).toEqual(['2025-01', '2025-02', '2025-03']);
    await verify(join(to, 'wallet', '2025-01'));
  });

  it('the command verifies a month without the database, and writes none without a list of keys', async () => {
    expect(archive(['--verify', folder, '--keys', keys])).toMatchObject({
      status: 0,
      stdout: 'VALID: 2025-01 of the service wallet, unchanged since it was signed\n',
    });
    expect(archive(['--before', '2025-04', '--to', root])).toMatchObject({
      status: 1,
      stderr: 'wallet: this database has no signing keys: name a list with --keys\n',
    });
    expect(archive(['--receipt', live.accountId, '--month', folder])).toMatchObject({
      status: 1,
      stderr: 'wallet: the archive of this service has no outcomes\n',
    });
  });
});
