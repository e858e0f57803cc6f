import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres, stopOrphanedPostgres } from '@laurel/postgres/embedded';
import { migrate } from '@laurel/postgres/migrate';
import pg from 'pg';
import { removeLeftovers } from './leftovers.ts';

/** The superuser's address of the server of this test run; every process of the run inherits it. */
export const POSTGRES_URL_VARIABLE = 'LAUREL_TEST_POSTGRES_URL';

const DIRECTORY_PREFIX = 'laurel-test-postgres-';

const SETTINGS = {
  max_connections: '300',
  // Nothing of a test run needs to outlive a power cut.
  fsync: 'off',
  full_page_writes: 'off',
};

/** One server for a whole test run, in a folder of its own that is gone with it. */
export async function startPostgres(): Promise<AsyncDisposable & { readonly url: string }> {
  await removeLeftovers(DIRECTORY_PREFIX, stopOrphanedPostgres);
  const directory = await mkdtemp(join(tmpdir(), `${DIRECTORY_PREFIX}${process.pid}-`));
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

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

/**
 * An empty, migrated database of its own, for a test file: a clone of a template that the first caller of these migrations
 * makes for the whole run.
 */
export async function createTestDatabase({ migrations }: { readonly migrations: URL }): Promise<TestDatabase> {
  const serverUrl = process.env[POSTGRES_URL_VARIABLE];
  if (serverUrl === undefined) throw new Error(`${POSTGRES_URL_VARIABLE} is not set: the test run has no PostgreSQL`);
  const template = await ensureTemplate(serverUrl, fileURLToPath(migrations));
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(serverUrl, (client) => client.query(`create database ${name} template ${template}`));
  return {
    url: withDatabase(serverUrl, name),
    [Symbol.asyncDispose]: async () => {
      await administer(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}

/** Templates are named by what their migrations say, so that a changed file makes a new one. */
async function ensureTemplate(serverUrl: string, directory: string): Promise<string> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(await readFile(join(directory, file)));
  const template = `template_${hash.digest('hex').slice(0, 32)}`;
  if (await administer(serverUrl, (client) => exists(client, template))) return template;

  await administer(serverUrl, async (client) => {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [template]);
    if (await exists(client, template)) return;
    const draft = `${template}_draft`;
    await client.query(`drop database if exists ${draft} with (force)`);
    await client.query(`create database ${draft}`);
    await migrate({ url: withDatabase(serverUrl, draft), directory });
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
