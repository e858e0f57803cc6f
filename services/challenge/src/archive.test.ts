import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { monthOf, verifyMonth, writeMonth } from '@laurel/attempts/archive';
import type { Database } from '@laurel/postgres';
import { createSigner } from '@laurel/signature';
import { verdictOnReceipt } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArchiveHost, DAY_MS, played, SEED, SIGNER, startArchiveHost } from './archive.fixture.ts';
import { archivedMonths } from './archived-months.ts';

const held = new AsyncDisposableStack();
let host: ArchiveHost;
let database: Database;
let root: string;

beforeAll(async () => {
  host = held.use(await startArchiveHost());
  ({ database, root } = host);
});
afterAll(() => held.disposeAsync());

/** The number of months that cases have used: each case uses a new month. */
let cases = 0;
function newMonth() {
  cases += 1;
  const month = monthOf(`${1980 + Math.floor(cases / 12)}-${String(1 + (cases % 12)).padStart(2, '0')}`);
  if (month === null) throw new Error('no month');
  return month;
}

const keysOf = (until: Date | null = null) => [{ publicKey: SIGNER.publicKey, from: new Date(0), until }];
const verify = (folder: string, keys = keysOf()) => verifyMonth(folder, { months: archivedMonths, keys });

describe('a month of the archive', () => {
  it('a written month contains every row of the month, and verifying it finds any changed byte', async () => {
    const law = fc.asyncProperty(
      fc.array(played, { maxLength: 12 }),
      fc.nat(5),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (attempts, fileAt, byteAt, change) => {
        const month = newMonth();
        for (const attempt of attempts) await host.insert(month.from, attempt);
        expect(await host.write(month)).toMatchObject({ isNew: true });
        const folder = join(root, 'challenge', month.name);
        const { files, totals } = await verify(folder);
        const rowsOf = (table: string) => files.find((file) => file.table === table)?.rows;
        const settled = attempts.filter(({ status }) => status === 'settled');
        expect(rowsOf('attempts')).toBe(attempts.length);
        expect(rowsOf('outcomes')).toBe(settled.length);
        expect(rowsOf('awards')).toBe(settled.filter(({ wins }) => wins).length);
        const cents = totals.filter(({ table }) => table === 'attempts').map((total) => BigInt(total.cents));
        expect(cents.reduce((sum, one) => sum + one, 0n)).toBe(BigInt(attempts.length) * 100n);

        const names = (await readdir(folder)).sort();
        const path = join(folder, names[fileAt % names.length] ?? '');
        const bytes = await readFile(path);
        const changed = Buffer.from(bytes);
        const at = byteAt % changed.length;
        changed[at] = (changed[at] ?? 0) ^ change;
        await writeFile(path, changed);
        const isSpace =
          path.endsWith('.json') && at === bytes.length - 1 && /\s/.test(String.fromCharCode(changed[at]));
        if (!isSpace) await expect(verify(folder)).rejects.toThrow();
        await writeFile(path, bytes);

        expect(await host.write(month)).toMatchObject({ isNew: false });
      },
    );
    await fc.assert(law, { numRuns: 15 });
  });

  it('a month is verified only if a listed key signed it within the key’s period', async () => {
    const month = newMonth();
    await host.write(month);
    const folder = join(root, 'challenge', month.name);
    const other = createSigner(Buffer.alloc(32, 6));
    await expect(verify(folder, [{ publicKey: other.publicKey, from: new Date(0), until: null }])).rejects.toThrow(
      'is not listed',
    );
    await expect(
      verify(folder, [{ publicKey: SIGNER.publicKey, from: new Date(0), until: new Date(1) }]),
    ).rejects.toThrow('outside of the period');
    const unknown = writeMonth(newMonth(), { database, signer: other, root, source: archivedMonths });
    await expect(unknown).rejects.toThrow('no service has signed with this key');
  });

  it('a month is not written while one of its attempts may still change', async () => {
    const month = newMonth();
    await host.insert(month.from, { day: 3, status: 'expired', text: '', score: 0, wins: false });
    const open = { text: `update attempts set status = 'open' where id > $1 and id < $2 returning id` };
    const [row] = await database.query<{ id: string }>(open, [month.leastId, month.endId]);
    await expect(host.write(month)).rejects.toThrow(`${month.name} may still change: the attempt ${row?.id} is open`);
    expect(await readdir(join(root, 'challenge'))).not.toContain(month.name);
  });

  it('a later run compares a written month with the database again', async () => {
    const month = newMonth();
    await host.insert(month.from, { day: 3, status: 'settled', text: '', score: 1, wins: false });
    await host.write(month);
    await database.query({ text: 'update attempts set fee_cents = 99 where id > $1 and id < $2' }, [
      month.leastId,
      month.endId,
    ]);
    await expect(host.write(month)).rejects.toThrow('rows of attempts, which are not the 1 of the database');
  });
});

describe('the command of the archive', () => {
  let folder: string;
  const archive = (argv: readonly string[], failpoints?: string) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('archive.ts', import.meta.url)), ...argv], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        CHALLENGE_DATABASE_URL: host.scratch.runningUrl,
        RECEIPT_SIGNING_SEED: SEED.toString('base64'),
        ...(failpoints !== undefined && { FAILPOINTS_DIR: failpoints }),
      },
    });
  const writeTo = (to: string, failpoints?: string) => archive(['--before', '1971-03', '--to', to], failpoints);
  let receiptId: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
    held.defer(() => rm(folder, { recursive: true }));
    for (let day = 0; day < 20; day += 1) {
      const attempt = { day, status: 'settled', text: `${day}`, score: day, wins: day % 5 === 0 } as const;
      receiptId = await host.insert(new Date('1971-01-01T00:00:00.000Z'), attempt);
    }
  });

  it.each([
    ['the files', 'challenge.archive.after-files', false],
    ['the manifest', 'challenge.archive.after-manifest', false],
    ['the verification', 'challenge.archive.after-verification', false],
    ['the rename', 'challenge.archive.after-rename', true],
  ])('the next run completes a month whose run was killed after %s', async (_, point, isThere) => {
    const to = await mkdtemp(join(folder, 'killed-'));
    await writeFile(join(to, point), 'kill');
    expect(writeTo(to, to)).toMatchObject({ signal: 'SIGKILL' });
    expect((await readdir(join(to, 'challenge'))).includes('1971-01')).toBe(isThere);
    const again = writeTo(to);
    expect(again.stdout).toMatch(
      isThere ? /^challenge 1971-01: was there, verified again/ : /^challenge 1971-01: written and verified/,
    );
    expect(again.status).toBe(0);
    expect((await readdir(join(to, 'challenge'))).sort()).toEqual(['1971-01', '1971-02']);
    await verify(join(to, 'challenge', '1971-01'));
  });

  it('the command verifies a month without the database, and prints a receipt that verifies offline', async () => {
    const to = await mkdtemp(join(folder, 'offline-'));
    expect(writeTo(to).status).toBe(0);
    const month = join(to, 'challenge', '1971-01');
    const list = join(to, 'keys.json');
    const key = { public_key: SIGNER.publicKey.toString('base64'), from: new Date(0).toISOString(), until: null };
    await writeFile(list, JSON.stringify({ keys: [key] }));
    expect(archive(['--verify', month, '--keys', list])).toMatchObject({
      status: 0,
      stdout: 'VALID: 1971-01 of the service challenge, unchanged since it was signed\n',
    });
    const printed = archive(['--receipt', receiptId, '--month', month]);
    expect(printed.status).toBe(0);
    const [, canonical = '', signature = ''] = /^\{"receipt":(.*),"signature":"(.*)"\}\n$/s.exec(printed.stdout) ?? [];
    const signed = { canonical, signature: Buffer.from(signature, 'base64'), publicKey: SIGNER.publicKey };
    expect(await verdictOnReceipt(signed)).toMatchObject({ kind: 'valid' });
    expect(archive(['--receipt', newId(), '--month', month]).status).toBe(1);
  });

  it('the command refuses a month that ended less than 7 days ago', () => {
    const next = new Date(Date.now() + 40 * DAY_MS).toISOString().slice(0, 7);
    const refused = archive(['--before', next, '--to', folder]);
    expect(refused).toMatchObject({ status: 1, stderr: 'challenge: a month is written when it ended 7 days ago\n' });
  });
});
