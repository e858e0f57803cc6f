import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { type DatabaseRoles, prepareDatabase } from './roles.ts';
import { verifyRunningRole } from './running-role.ts';

const serverUrl = process.env.LAUREL_TEST_POSTGRES_URL ?? '';
let name: string;
let roles: DatabaseRoles;
let directory: string;

beforeEach(async () => {
  name = `roles_${randomBytes(8).toString('hex')}`;
  roles = { ownerUrl: urlOf(`${name} "owner"`, 'o/wner'), runningUrl: urlOf(`${name}_running`, 'r:unning') };
  directory = await mkdtemp(join(tmpdir(), 'laurel-roles-'));
  await mkdir(migrations());
  await write('0001_create_a.sql', 'create table a (id int, note text); insert into a values (1);');
  await writeFile(join(directory, 'grants.sql'), 'grant select, update (note) on a to :"running_role";');
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
  await ask(serverUrl, `drop database if exists ${name} with (force)`);
  for (const role of [`${name} "owner"`, `${name}_running`, `${name}_archive`, `${name}_other`]) {
    await ask(serverUrl, `drop role if exists ${pg.escapeIdentifier(role)}`);
  }
});

const write = (file: string, sql: string) => writeFile(join(migrations(), file), sql);
const prepare = () => prepareDatabase(serverUrl, roles);
const run = () => migrate({ url: roles.ownerUrl, directory: migrations(), grants: grants() });
const grants = () => ({ file: join(directory, 'grants.sql'), runningRole: `${name}_running` });

/** A separate folder: files beside the migrations are not migrations. */
function migrations(): string {
  return join(directory, 'migrations');
}

function urlOf(role: string, password: string): string {
  const url = new URL(serverUrl);
  url.username = encodeURIComponent(role);
  url.password = encodeURIComponent(password);
  url.pathname = `/${name}`;
  return url.href;
}

function superuserUrl(): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
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

describe('a database that is prepared', () => {
  test('concurrent preparations create the database and its roles once', async () => {
    await Promise.all([prepare(), prepare(), prepare()]);
    await run();
    expect(await ask(roles.ownerUrl, 'select id from a')).toEqual([{ id: 1 }]);
    expect(await ask(roles.runningUrl, 'select id from a')).toEqual([{ id: 1 }]);
    await ask(serverUrl, `create role ${name}_other login password 'other'`);
    await expect(ask(urlOf(`${name}_other`, 'other'), 'select 1')).rejects.toMatchObject({ code: '42501' });
  });

  test('preparing a database sets the passwords of the URLs', async () => {
    await prepare();
    const wrong = urlOf(`${name}_running`, 'guess');
    await expect(ask(wrong, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    const before = roles.runningUrl;
    roles = { ...roles, runningUrl: urlOf(`${name}_running`, 'changed') };
    await prepare();
    expect(await ask(roles.runningUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
    await expect(ask(before, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  });

  test('preparing a database whose objects a superuser owned keeps its data', async () => {
    await ask(serverUrl, `create database ${name}`);
    await write(
      '0002_create_more.sql',
      `create type mood as enum ('good'); create domain positive as int check (value > 0);
      create table b (id int generated always as identity, old serial, mood mood, how positive);
      create view c as select id from b; create materialized view d as select id from b; create sequence e;
      create function f() returns trigger language plpgsql as $$ begin return new; end $$;
      create trigger g before insert on b for each row execute function f();
      grant all on a to public; insert into b (mood) values ('good');`,
    );
    await migrate({ url: superuserUrl(), directory: migrations() });

    await prepare();
    await prepare();
    const owned = await ask(
      superuserUrl(),
      `select distinct pg_get_userbyid(owner) as owner from (
        select relowner from pg_class where relnamespace = 'public'::regnamespace
        union all select proowner from pg_proc where pronamespace = 'public'::regnamespace
        union all select typowner from pg_type where typnamespace = 'public'::regnamespace
        union all select datdba from pg_database where datname = current_database()
      ) as everything (owner)`,
    );
    expect(owned).toEqual([{ owner: `${name} "owner"` }]);
    await write('0003_change.sql', 'alter table b add column more text; drop view c; drop function f cascade;');
    await write('0004_create_type.sql', "alter type mood add value 'bad';");
    expect(await run()).toEqual(['0003_change.sql', '0004_create_type.sql']);
    expect(await ask(roles.ownerUrl, 'select id, mood, more from b')).toEqual([{ id: 1, mood: 'good', more: null }]);
    await expect(ask(roles.runningUrl, 'delete from a')).rejects.toMatchObject({ code: '42501' });
  });

  test('preparing a database revokes attributes that its roles were given by hand', async () => {
    await prepare();
    await ask(serverUrl, `create role ${name}_other`);
    await ask(serverUrl, `alter role ${name}_running superuser createdb createrole replication bypassrls`);
    await ask(serverUrl, `grant ${name}_other, pg_read_all_data to ${name}_running`);
    await ask(serverUrl, `grant all on database ${name} to ${name}_running`);
    await prepare();
    await run();
    await using database = createDatabase({ url: roles.runningUrl, maxConnections: 1, applicationName: 'roles-test' });
    const logger = { warn: vi.fn() };
    (await verifyRunningRole(database, { isPrivilegedAllowed: false, logger }))[Symbol.dispose]();
    await expect(ask(roles.runningUrl, 'create temporary table loot ()')).rejects.toMatchObject({ code: '42501' });
  });

  test('preparing a database refuses URLs that do not name two roles of one database', async () => {
    const { ownerUrl } = roles;
    await expect(prepareDatabase(serverUrl, { ownerUrl, runningUrl: ownerUrl })).rejects.toThrow('are both');
    await expect(prepareDatabase(serverUrl, { ownerUrl, runningUrl: superuserUrl() })).rejects.toThrow(
      'the superuser who prepares the database cannot be one',
    );
    const elsewhere = new URL(roles.runningUrl);
    elsewhere.pathname = '/elsewhere';
    await expect(prepareDatabase(serverUrl, { ownerUrl, runningUrl: elsewhere.href })).rejects.toThrow('elsewhere');
    expect(await ask(serverUrl, `select from pg_roles where rolname like '${name}%'`)).toEqual([]);
  });
});

test('the command prepares every service that the environment names', async () => {
  const main = fileURLToPath(new URL('prepare-databases.ts', import.meta.url));
  const run = (environment: Record<string, string>) =>
    promisify(execFile)(process.execPath, [main], {
      env: { PATH: process.env.PATH, POSTGRES_ADMIN_URL: serverUrl, ...environment },
    });
  const owner = { WALLET_MIGRATION_DATABASE_URL: roles.ownerUrl };
  await expect(run({})).rejects.toMatchObject({ code: 1, stderr: 'WALLET_MIGRATION_DATABASE_URL: is required\n' });
  await expect(run(owner)).rejects.toMatchObject({ code: 1, stderr: 'WALLET_DATABASE_URL: is required\n' });
  const running = { ...owner, WALLET_DATABASE_URL: roles.runningUrl };
  const prepared = `wallet: owned by ${name} "owner", run by ${name}_running`;
  expect((await run(running)).stdout).toBe(`${prepared}\n`);
  const archive = await run({ ...running, WALLET_ARCHIVE_DATABASE_URL: urlOf(`${name}_archive`, 'a:rchive') });
  expect(archive.stdout).toBe(`${prepared}, archived by ${name}_archive\n`);
  expect(await ask(roles.runningUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
});

describe('grants.sql', () => {
  beforeEach(prepare);

  test('grants.sql grants the running role all of its privileges after every migration', async () => {
    await run();
    await ask(roles.runningUrl, "update a set note = 'changed'");
    await expect(ask(roles.runningUrl, 'update a set id = 2')).rejects.toMatchObject({ code: '42501' });

    await ask(roles.ownerUrl, `grant all on a to ${name}_running; grant update (id) on a to ${name}_running`);
    await writeFile(grants().file, 'grant select on a to :"running_role";');
    expect(await run()).toEqual([]);
    for (const change of ['update a set id = 2', "update a set note = ''", 'delete from a', 'truncate a']) {
      await expect(ask(roles.runningUrl, change)).rejects.toMatchObject({ code: '42501' });
    }
    expect(await ask(roles.runningUrl, 'select id, note from a')).toEqual([{ id: 1, note: 'changed' }]);
  });

  test('the running role may not use a new table or function until grants.sql names it', async () => {
    await write('0002_more.sql', "create table b (); create function f() returns int language sql as 'select 1';");
    await run();
    await expect(ask(roles.runningUrl, 'select from b')).rejects.toMatchObject({ code: '42501' });
    await expect(ask(roles.runningUrl, 'select f()')).rejects.toMatchObject({ code: '42501' });
  });

  test('archive-grants.sql grants the archive’s role its privileges, which later migrations keep', async () => {
    const archiveUrl = urlOf(`${name}_archive`, 'a:rchive');
    const file = join(directory, 'archive-grants.sql');
    await writeFile(file, 'grant select (note) on a to :"archive_role";');
    const archive = { file, role: `${name}_archive` };
    const migrateBoth = () =>
      migrate({ url: roles.ownerUrl, directory: migrations(), grants: { ...grants(), archive } });
    await expect(migrateBoth()).rejects.toThrow(`the role ${name}_archive that deletes archived months is not there`);
    await prepareDatabase(serverUrl, { ...roles, archiveUrl });
    await migrateBoth();
    await run();
    expect(await ask(archiveUrl, 'select note from a')).toEqual([{ note: null }]);
    await expect(ask(archiveUrl, 'select id from a')).rejects.toMatchObject({ code: '42501' });
    await ask(roles.runningUrl, "update a set note = 'changed'");
    await expect(prepareDatabase(serverUrl, { ...roles, archiveUrl: roles.runningUrl })).rejects.toThrow(
      'the archive’s role is one of',
    );
  });

  test('a failed grants.sql leaves the privileges unchanged', async () => {
    await run();
    await writeFile(grants().file, 'grant select on missing to :"running_role";');
    await expect(run()).rejects.toThrow(/grants\.sql: relation "missing" does not exist/);
    expect(await ask(roles.runningUrl, 'select id from a')).toEqual([{ id: 1 }]);
    const unknown = { file: grants().file, runningRole: `${name}_none` };
    await expect(migrate({ url: roles.ownerUrl, directory: migrations(), grants: unknown })).rejects.toThrow(
      `the role ${name}_none that runs the service is not there`,
    );
  });

  test('grants.sql is not applied if the owner’s role also runs the service', async () => {
    await migrate({
      url: roles.ownerUrl,
      directory: migrations(),
      grants: { ...grants(), runningRole: `${name} "owner"` },
    });
    expect(await ask(roles.ownerUrl, 'update a set id = 2 returning id')).toEqual([{ id: 2 }]);
  });
});

describe('a service that starts', () => {
  const verifyAs = async (url: string, isPrivilegedAllowed = false): Promise<readonly string[]> => {
    await using database = createDatabase({ url, maxConnections: 1, applicationName: 'roles-test' });
    const warnings: string[] = [];
    const logger = { warn: (message: string) => void warnings.push(message) };
    (await verifyRunningRole(database, { isPrivilegedAllowed, logger }))[Symbol.dispose]();
    return warnings;
  };

  test('a service that starts accepts its running role without a warning', async () => {
    await prepare();
    await run();
    expect(await verifyAs(roles.runningUrl)).toEqual([]);
  });

  test('a service that starts refuses a superuser and the owner unless they are allowed', async () => {
    await prepare();
    await run();
    await expect(verifyAs(superuserUrl())).rejects.toThrow(
      /the role \w+ of this service's database URL is a superuser/,
    );
    await expect(verifyAs(roles.ownerUrl)).rejects.toThrow(
      `the role ${name} "owner" of this service's database URL owns the database, owns tables, may create tables`,
    );
    expect(await verifyAs(roles.ownerUrl, true)).toEqual([expect.stringContaining('owns the database')]);
  });

  test('a service that starts refuses a role that is a member of another role', async () => {
    await prepare();
    await ask(serverUrl, `create role ${name}_other; grant ${name}_other to ${name}_running`);
    await expect(verifyAs(roles.runningUrl)).rejects.toThrow('is a member of another role');
    await prepare();
    await run();
    await ask(superuserUrl(), `grant create on schema public to ${name}_running`);
    await expect(verifyAs(roles.runningUrl)).rejects.toThrow('may create tables:');
  });

  test('a service that starts does not wait for an unreachable database', async () => {
    expect(await verifyAs('postgresql://unknown@127.0.0.1:1/none')).toEqual([]);
  });
});
