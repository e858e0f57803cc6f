import { createHash, createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres, stopOrphanedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { migrate } from '@laurel/postgres/migrate';
import { type DatabaseRoles, giveDatabase, prepareDatabase, roleOf } from '@laurel/postgres/roles';
import pg from 'pg';
import { removeLeftovers } from './leftovers.ts';
import { memoryFolder } from './memory-folder.ts';

/** The superuser's address of the server of this test run; every process of the run inherits it. */
export const POSTGRES_URL_VARIABLE = 'LAUREL_TEST_POSTGRES_URL';

const DIRECTORY_PREFIX = 'laurel-test-postgres-';

const SETTINGS = {
  max_connections: '300',
  // Nothing of a test run needs to outlive a power cut.
  fsync: 'off',
  full_page_writes: 'off',
};

/** One server for a whole test run, in a folder of its own that is removed with it. */
export async function startPostgres(): Promise<AsyncDisposable & { readonly url: string }> {
  const parent = memoryFolder();
  await removeLeftovers(DIRECTORY_PREFIX, stopOrphanedPostgres, parent);
  const directory = await mkdtemp(join(parent, `${DIRECTORY_PREFIX}${process.pid}-`));
  const server = await startEmbeddedPostgres({
    dataDirectory: directory,
    settings: SETTINGS,
    logFile: join(directory, 'log'),
  });
  return {
    url: server.superuserUrl,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * The two roles of a service's databases on the server of this test run: named apart from those of a stack that the server may carry, with
 * passwords that every process of the run derives alike.
 */
export function testRoles(serverUrl: string, service: string, database: string): DatabaseRoles {
  const urlOf = (role: string) => {
    const url = new URL(withDatabase(serverUrl, database));
    url.password = createHmac('sha256', url.password).update(role).digest('base64url');
    url.username = role;
    return url.href;
  };
  return { ownerUrl: urlOf(`laurel_test_${service}_owner`), runningUrl: urlOf(`laurel_test_${service}`) };
}

/** A copy of a database that was prepared, with the same owner and running role. */
export async function cloneDatabase(
  client: pg.Client,
  template: string,
  name: string,
  { ownerUrl, runningUrl }: DatabaseRoles,
): Promise<void> {
  await client.query(`create database ${name} template ${template}`);
  await giveDatabase(client, name, { owner: roleOf(ownerUrl), running: roleOf(runningUrl) });
}

export interface TestDatabase extends AsyncDisposable {
  /** The superuser's, for a test's own setup and assertions. */
  readonly url: string;
  /** Of the role that runs the service, which has the privileges of its grants.sql. */
  readonly runningUrl: string;
}

/**
 * An empty, migrated database of its own, for a test file: a clone of a template that the first caller of these migrations
 * makes for the whole run.
 */
export async function createTestDatabase({ migrations }: { readonly migrations: URL }): Promise<TestDatabase> {
  const serverUrl = process.env[POSTGRES_URL_VARIABLE];
  if (serverUrl === undefined) throw new Error(`${POSTGRES_URL_VARIABLE} is not set: the test run has no PostgreSQL`);
  const directory = fileURLToPath(migrations);
  const service = basename(dirname(directory));
  const template = await ensureTemplate(serverUrl, directory, service);
  const name = `test_${randomBytes(8).toString('hex')}`;
  const roles = testRoles(serverUrl, service, name);
  await administer(serverUrl, (client) => cloneDatabase(client, template, name, roles));
  return {
    url: withDatabase(serverUrl, name),
    runningUrl: roles.runningUrl,
    [Symbol.asyncDispose]: async () => {
      await administer(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}

/** Templates are named by the contents of their migrations and grants, so that a changed file makes a new one. */
async function ensureTemplate(serverUrl: string, directory: string, service: string): Promise<string> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  const grants = join(directory, '..', 'grants.sql');
  const hash = createHash('sha256').update(service);
  for (const file of files) hash.update(file).update(await readFile(join(directory, file)));
  if (existsSync(grants)) hash.update(await readFile(grants));
  const template = `template_${hash.digest('hex').slice(0, 32)}`;
  if (await administer(serverUrl, (client) => exists(client, template))) return template;

  await administer(serverUrl, async (client) => {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [template]);
    if (await exists(client, template)) return;
    const draft = `${template}_draft`;
    await client.query(`drop database if exists ${draft} with (force)`);
    const roles = testRoles(serverUrl, service, draft);
    await prepareDatabase(serverUrl, roles);
    await migrate({
      url: roles.ownerUrl,
      directory,
      ...(existsSync(grants) && { grants: { file: grants, runningRole: roleOf(roles.runningUrl) } }),
    });
    await client.query(`alter database ${draft} rename to ${template}`);
  });
  return template;
}

async function exists(client: pg.Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database]);
  return rowCount === 1;
}

async function administer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
