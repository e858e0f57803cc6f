import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

const held = new AsyncDisposableStack();
const env: Record<string, string | undefined> = {
  PATH: process.env.PATH,
  RECEIPT_SIGNING_SEED: Buffer.alloc(32, 5).toString('base64'),
};
let folder: string;
let keys: string;

beforeAll(async () => {
  for (const service of ['challenge', 'tournament', 'wallet']) {
    const migrations = new URL(`../../services/${service}/migrations/`, import.meta.url);
    const { runningUrl } = held.use(await createTestDatabase({ migrations }));
    env[`${service.toUpperCase()}_DATABASE_URL`] = runningUrl;
  }
  folder = await mkdtemp(join(tmpdir(), 'laurel-archive-'));
  held.defer(() => rm(folder, { recursive: true }));
  keys = join(folder, 'keys.json');
  await writeFile(keys, JSON.stringify({ keys: [] }));
});
afterAll(() => held.disposeAsync());

const archive = (argv: readonly string[], changes: Record<string, string | undefined> = {}) =>
  spawnSync(process.execPath, [fileURLToPath(new URL('archive.ts', import.meta.url)), ...argv], {
    encoding: 'utf8',
    env: { ...env, ...changes },
  });

test('npm run archive writes the months of the contest services and the wallet, or of the one that is named', () => {
  const before = ['--before', '2025-01', '--to', folder, '--keys', keys];
  expect(archive(before)).toMatchObject({
    status: 0,
    stdout: ['challenge', 'tournament', 'wallet'].map((name) => `${name}: has nothing from before 2025-01\n`).join(''),
  });
  expect(archive([...before, '--service', 'tournament'])).toMatchObject({
    status: 0,
    stdout: 'tournament: has nothing from before 2025-01\n',
  });
  expect(archive([...before, '--service', 'webhook'])).toMatchObject({
    status: 2,
    stderr: 'the service webhook has no archive; these have one: challenge, tournament, wallet\n',
  });
});

test('npm run archive goes on to the other services if one cannot be archived, and fails', () => {
  const run = archive(['--before', '2025-01', '--to', folder], { CHALLENGE_DATABASE_URL: undefined });
  expect(run).toMatchObject({ status: 1, stdout: 'tournament: has nothing from before 2025-01\n' });
  expect(run.stderr).toContain('CHALLENGE_DATABASE_URL');
  expect(run.stderr).toContain('wallet: this database has no signing keys: name a list with --keys');
});

test('npm run archive verifies a month as the service in its manifest', async () => {
  const month = join(folder, 'tournament', '2024-12');
  await mkdir(month, { recursive: true });
  await writeFile(join(month, 'manifest.json'), JSON.stringify({ manifest: { service: 'tournament' }, signature: '' }));
  expect(archive(['--verify', month, '--keys', keys])).toMatchObject({
    status: 1,
    stderr: 'NOT VALID: this is no manifest of an archive\n',
  });
  expect(archive([]).stderr.match(/usage/g)).toHaveLength(1);
});

test('npm run archive deletes a month of the named service, as the role of its archive', () => {
  const argv = ['--delete', '2024-12', '--from', folder];
  expect(archive(argv)).toMatchObject({
    status: 2,
    stdout: '',
    stderr: 'a month is deleted of one service: name it by --service challenge or tournament\n',
  });
  for (const service of ['challenge', 'tournament']) {
    expect(archive([...argv, '--service', service])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `${service.toUpperCase()}_ARCHIVE_DATABASE_URL: is required\n`,
    });
  }
  expect(archive([...argv, '--service', 'wallet'])).toMatchObject({
    status: 1,
    stderr: 'wallet: the months of this service cannot be deleted\n',
  });
});
