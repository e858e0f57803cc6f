import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type DatabaseRoles, prepareDatabase } from '@laurel/postgres/roles';
import { databaseVariableOf, migrationVariableOf } from '@laurel/topology';
import pg from 'pg';
import { CHECKOUT, fileOfService, NODE, type Service } from './checkout.ts';
import { cloneDatabase, testRoles } from './postgres.ts';

/** A superuser's connection to one service's database, for assertions; `int8` is returned as bigint. */
export interface StackDatabase extends DatabaseRoles {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? (text: string) => BigInt(text) : pg.types.getTypeParser(oid, format ?? 'text'),
};

/** A fresh database of a service, cloned from a template that its own `migrate.ts` made once for these migrations. */
export async function createServiceDatabase(
  serverUrl: string,
  service: Service,
  { checkout, cleanup }: { readonly checkout: string; readonly cleanup: AsyncDisposableStack },
): Promise<StackDatabase> {
  const name = `stack_${service}_${randomBytes(8).toString('hex')}`;
  const roles = testRoles(serverUrl, service, name);
  await administer(serverUrl, async (client) => {
    const template = await ensureTemplate(client, serverUrl, service, checkout);
    await cloneDatabase(client, template, name, roles);
  });
  cleanup.defer(() =>
    administer(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`)).then(
      ignore,
      ignore,
    ),
  );
  return { ...roles, query: connectDatabase(withDatabase(serverUrl, name), cleanup) };
}

/** Queries over a pool that `cleanup` closes. */
export function connectDatabase(url: string, cleanup: AsyncDisposableStack): StackDatabase['query'] {
  const pool = new pg.Pool({ connectionString: url, max: 3, types, application_name: 'laurel-test' });
  pool.on('error', ignore);
  cleanup.defer(() => pool.end());
  return async (text, values = []) => (await pool.query(text, [...values])).rows;
}

async function ensureTemplate(
  client: pg.Client,
  serverUrl: string,
  service: Service,
  checkout: string,
): Promise<string> {
  const template = `template_${service}_${schemaHash(service, checkout)}`;
  // One process makes it, the others wait; the lock goes with the session.
  await client.query('select pg_advisory_lock(hashtext($1))', [template]);
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [template]);
    if (found.rowCount === 0) {
      const draft = `${template}_draft`;
      await client.query(`drop database if exists ${draft} with (force)`);
      const roles = testRoles(serverUrl, service, draft);
      await prepareDatabase(serverUrl, roles);
      await migrateDatabase(service, roles, checkout);
      await client.query(`alter database ${draft} rename to ${template}`);
    }
    return template;
  } finally {
    await client.query('select pg_advisory_unlock(hashtext($1))', [template]);
  }
}

function schemaHash(service: Service, checkout: string): string {
  const directory = fileOfService(service, 'migrations', checkout);
  const hash = createHash('sha256').update(readFileSync(fileOfService(service, 'grants.sql', checkout)));
  for (const file of readdirSync(directory).sort()) hash.update(file).update(readFileSync(`${directory}/${file}`));
  return hash.digest('hex').slice(0, 16);
}

/** Runs the migrations of a checkout as a deployment does: `migrate.ts` as the owner. Rejects with its output if it fails. */
export function migrateDatabase(
  service: Service,
  { ownerUrl, runningUrl }: DatabaseRoles,
  checkout = CHECKOUT,
): Promise<void> {
  const main = fileOfService(service, 'src/migrate.ts', checkout);
  const child = spawn(NODE, ['--disable-warning=ExperimentalWarning', main], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      [databaseVariableOf(service)]: runningUrl,
      [migrationVariableOf(service)]: ownerUrl,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`migrating ${service} failed with exit code ${code}:\n${output}`)),
    );
  });
}

async function administer<T>(serverUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: withDatabase(serverUrl, 'postgres') });
  client.on('error', ignore);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

function ignore(): void {}
