import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from './migrate.ts';
import { createScratchDatabase, type ScratchDatabase } from './scratch-database.fixture.ts';

let scratch: ScratchDatabase;
let client: pg.Client;
let directory = '';

beforeEach(async () => {
  scratch = await createScratchDatabase();
  client = new pg.Client({ connectionString: scratch.url });
  await client.connect();
  directory = await mkdtemp(join(tmpdir(), 'laurel-migrate-'));
  await write(
    '0001_create_a.sql',
    `create table a (id int); -- why? because $1 isn't a placeholder\ninsert into a values (1);`,
  );
  await write('0002_create_b.sql', 'create table b (id int);');
});
afterEach(async () => {
  await client.end();
  await scratch[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const write = (name: string, sql: string) => writeFile(join(directory, name), sql);
const run = () => migrate({ url: scratch.url, directory });

async function tables(): Promise<readonly string[]> {
  const text = `select tablename from pg_tables where schemaname = 'public' and tablename not like '%migration%' order by 1`;
  return (await client.query<{ tablename: string }>(text)).rows.map((row) => row.tablename);
}

test('each migration file runs once, in the order of the names', async () => {
  const lines: unknown[] = [];
  const logger = { info: (fields: object) => lines.push(fields) };
  const names = ['0001_create_a.sql', '0002_create_b.sql'];
  expect(await migrate({ url: scratch.url, directory: pathToFileURL(`${directory}/`), logger })).toEqual(names);
  expect(lines).toEqual(names.map((migration) => ({ migration })));
  expect(await run()).toEqual([]);
  await write('0003_create_c.sql', 'create table c (id int);');
  expect(await run()).toEqual(['0003_create_c.sql']);
  expect(await tables()).toEqual(['a', 'b', 'c']);
  expect((await client.query('select id from a')).rows).toEqual([{ id: 1 }]);
});

test('a failed migration file is rolled back and can be corrected', async () => {
  await write('0003_broken.sql', 'create table c (id int); select 1 / 0;');
  await expect(run()).rejects.toThrow('division by zero');
  expect(await tables()).toEqual(['a', 'b']);
  await write('0003_broken.sql', 'create table c (id int);');
  expect(await run()).toEqual(['0003_broken.sql']);
});

test('a migration file that was edited after it ran is refused', async () => {
  await run();
  await write('0001_create_a.sql', 'create table a (id bigint);');
  await expect(run()).rejects.toThrow('0001_create_a.sql was edited after it ran');
});

test('a migration file that is missing after it ran is refused', async () => {
  await run();
  await rm(join(directory, '0001_create_a.sql'));
  await expect(run()).rejects.toThrow('0001_create_a.sql has run on this database, and its file is missing');
});

test('a migration file that sorts before one that has run is refused', async () => {
  await run();
  await write('0001_b_late.sql', 'create table late (id int);');
  await expect(run()).rejects.toThrow('0001_b_late.sql would have to run before 0002_create_b.sql, which has run');
  expect(await tables()).toEqual(['a', 'b']);
});

test('a migration file with an invalid name is refused before anything runs', async () => {
  await write('3-create-c.sql', 'create table c (id int);');
  await expect(run()).rejects.toThrow('3-create-c.sql is not named like 0001_create_accounts.sql');
  expect(await tables()).toEqual([]);
});

test('replicas that start together run each migration file once', async () => {
  const names = (await Promise.all([run(), run(), run(), run()])).flat();
  expect(names).toEqual(['0001_create_a.sql', '0002_create_b.sql']);
});

test('a replica that was killed during a migration does not block any other replica', async () => {
  await write('0002_create_b.sql', 'create table b (id int); select pg_sleep(60);');
  const module = new URL('./migrate.ts', import.meta.url).href;
  const script = `
    const { migrate } = await import(${JSON.stringify(module)});
    await migrate(${JSON.stringify({ url: scratch.url, directory })});`;
  const replica = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
  const isAsleep = `select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
  while ((await client.query(isAsleep)).rowCount === 0) expect(replica.exitCode).toBeNull();
  replica.kill('SIGKILL');
  // The server notices a dead client only when it writes to it; otherwise an administrator or the
  // next restart ends such a session.
  await client.query(`select pg_terminate_backend(pid, 5000) from (${isAsleep}) as asleep`);

  await write('0002_create_b.sql', 'create table b (id int);');
  expect(await run()).toEqual(['0002_create_b.sql']);
  expect(await tables()).toEqual(['a', 'b']);
});
