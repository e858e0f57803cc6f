import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { ensureDatabase } from './ensure-database.ts';
import { identifyProcess } from './inspect-process.mjs';

// `mkdtemp` makes a folder of mode 0700, so as root these tests run in a folder that no other user
// can enter.
let root = '';
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'laurel-embedded-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await rm(root, { recursive: true, force: true });
});

const optionsOf = (port?: number) => ({
  dataDirectory: join(root, 'data', 'postgres'),
  logFile: join(root, 'logs', 'postgres.log'),
  settings: { fsync: 'off' },
  ...(port === undefined ? {} : { port }),
});

async function start(port?: number): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(optionsOf(port));
  cleanups.push(() => server.stop());
  return server;
}

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test('an embedded PostgreSQL keeps its data over a stop', async () => {
  const first = await start();
  await ensureDatabase(first.superuserUrl, 'laurel "wallet"');
  await ensureDatabase(first.superuserUrl, 'laurel "wallet"');
  await ask(first.url('laurel "wallet"'), 'create table a as select 1 as id');
  await Promise.all([first.stop(), first.stop()]);
  await first.exited;
  expect(() => process.kill(first.pid, 0)).toThrow('ESRCH');

  const second = await start();
  expect(await ask(second.url('laurel "wallet"'), 'select id from a')).toEqual([{ id: 1 }]);
  expect(await readFile(optionsOf().logFile, 'utf8')).toContain('database system is ready');
});

test('an embedded PostgreSQL makes its log readable only for its owner', async () => {
  const { logFile } = optionsOf();
  await mkdir(join(root, 'logs'));
  await writeFile(logFile, 'kept\n');
  await chmod(logFile, 0o644);
  await start();
  expect((await stat(logFile)).mode & 0o777).toBe(0o600);
  expect(await readFile(logFile, 'utf8')).toMatch(/^kept\n.*ready/s);
});

test('an embedded PostgreSQL refuses clients without the password', async () => {
  const url = new URL((await start()).superuserUrl);
  url.password = 'guess';
  await expect(ask(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
});

test('an embedded PostgreSQL accepts settings and a port', async () => {
  const port = await findFreePort();
  const server = await start(port);
  expect(server.port).toBe(port);
  expect(await ask(server.superuserUrl, 'show fsync')).toEqual([{ fsync: 'off' }]);
});

test('a start of PostgreSQL on a port in use fails with a one-sentence message', async () => {
  const blocker = createServer().listen(0, '127.0.0.1');
  cleanups.push(() => blocker.close());
  await new Promise((resolve) => blocker.once('listening', resolve));
  const address = blocker.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  await expect(start(port)).rejects.toThrow(`port ${port} is in use by another program`);
});

test('a second start of PostgreSQL on the same data fails without disturbing the first', async () => {
  const server = await start();
  await expect(start()).rejects.toThrow(`already runs for the process ${process.pid}`);
  expect(await ask(server.superuserUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a start replaces the PostgreSQL server of a killed parent without losing data', async () => {
  const port = await findFreePort();
  const orphanPid = await startInChildThatIsKilled(port);
  expect(() => process.kill(orphanPid, 0)).not.toThrow();

  const server = await start(port);
  expect(() => process.kill(orphanPid, 0)).toThrow('ESRCH');
  expect(await ask(server.superuserUrl, 'select id from committed')).toEqual([{ id: 42 }]);
});

test('a killed PostgreSQL server and its old postmaster.pid do not block the next start', async () => {
  const first = await start();
  await ask(first.superuserUrl, 'create table a as select 1 as id');
  process.kill(first.pid, 'SIGKILL');
  await first.exited;
  const second = await start();
  expect(await ask(second.superuserUrl, 'select id from a')).toEqual([{ id: 1 }]);
  await second.stop();

  // The process id in the file belongs to another program.
  await writeFile(join(optionsOf().dataDirectory, 'cluster', 'postmaster.pid'), `${process.ppid}\n`);
  const third = await start();
  expect(await ask(third.superuserUrl, 'select id from a')).toEqual([{ id: 1 }]);
});

test('a start does not end a server of another folder that has the process id of an old postmaster.pid', async () => {
  const other = await start();
  const dataDirectory = join(root, 'second', 'postgres');
  const startSecond = () => startEmbeddedPostgres({ ...optionsOf(), dataDirectory });
  const first = await startSecond();
  await ask(first.superuserUrl, 'create table a as select 1 as id');
  await first.stop();
  await writeFile(join(dataDirectory, 'cluster', 'postmaster.pid'), `${other.pid}\n`);
  const second = await startSecond();
  cleanups.push(() => second.stop());
  expect(await ask(second.superuserUrl, 'select id from a')).toEqual([{ id: 1 }]);
  expect(await ask(other.superuserUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a second start of PostgreSQL on the same data by another path fails too', async () => {
  const server = await start();
  await symlink(join(root, 'data'), join(root, 'link'));
  const second = startEmbeddedPostgres({ ...optionsOf(), dataDirectory: join(root, 'link', 'postgres') });
  await expect(second).rejects.toThrow(`already runs for the process ${process.pid}`);
  expect(await ask(server.superuserUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
});

test('a server counts as an orphan if another process now has the id of its parent', async () => {
  const port = await findFreePort();
  const server = await start(port);
  const owner = join(optionsOf().dataDirectory, 'owner');
  expect(await readFile(owner, 'utf8')).toBe(`${identifyProcess(process.pid)}\n`);
  await writeFile(owner, `${process.pid} another-boot 1\n`);
  await start(port);
  expect(() => process.kill(server.pid, 0)).toThrow('ESRCH');
});

test('a start of PostgreSQL replaces an incomplete data folder', async () => {
  const { dataDirectory } = optionsOf();
  await mkdir(join(dataDirectory, 'cluster.new', 'base'), { recursive: true });
  const server = await start();
  expect(await ask(server.superuserUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect((await readdir(dataDirectory)).sort()).toEqual(['cluster', 'owner', 'password']);
});

test('a start of PostgreSQL on data of another version is refused and leaves the data unchanged', async () => {
  const { dataDirectory } = optionsOf();
  const version = join(dataDirectory, 'cluster', 'PG_VERSION');
  await mkdir(join(dataDirectory, 'cluster'), { recursive: true });
  await writeFile(version, '12\n');
  await writeFile(join(dataDirectory, 'password'), 'secret\n');
  await expect(start()).rejects.toThrow('is of PostgreSQL 12 and the server is 18');
  expect(existsSync(version)).toBe(true);
});

test('a start of PostgreSQL on data without its password fails and leaves the data unchanged', async () => {
  const { dataDirectory } = optionsOf();
  await mkdir(join(dataDirectory, 'cluster'), { recursive: true });
  await expect(start()).rejects.toThrow(`${join(dataDirectory, 'password')} is missing`);
  expect(await readdir(dataDirectory)).toEqual(['cluster']);
});

/** A parent that starts a server, commits a row and is killed immediately. */
async function startInChildThatIsKilled(port: number): Promise<number> {
  const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(new URL('./embedded-postgres.ts', import.meta.url).href)});
    const { default: pg } = await import(${JSON.stringify(import.meta.resolve('pg'))});
    const server = await startEmbeddedPostgres(${JSON.stringify(optionsOf(port))});
    const client = new pg.Client({ connectionString: server.superuserUrl });
    await client.connect();
    await client.query('create table committed as select 42 as id');
    console.log(server.pid);
    process.kill(process.pid, 'SIGKILL');`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return Number(await outputOf(parent));
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return output.trim();
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
