import { spawn } from 'node:child_process';
import type { DatabaseRoles } from '@laurel/postgres/roles';
import { archiveVariableOf, databaseVariableOf, migrationVariableOf } from '@laurel/topology';
import pg from 'pg';
import { CHECKOUT, fileOfService, NODE, type Service } from './checkout.ts';
import { cloneTemplate } from './database-template.ts';

/**
 * A superuser's connection to one service's database, for assertions. It returns `int8` as bigint.
 */
export interface StackDatabase extends DatabaseRoles {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? (text: string) => BigInt(text) : pg.types.getTypeParser(oid, format ?? 'text'),
};

/** Creates a database of a service, with the service's `migrate.ts` of this checkout. */
export async function createServiceDatabase(
  serverUrl: string,
  service: Service,
  { checkout, cleanup }: { readonly checkout: string; readonly cleanup: AsyncDisposableStack },
): Promise<StackDatabase> {
  const database = await cloneTemplate(serverUrl, {
    service,
    migrations: fileOfService(service, 'migrations', checkout),
    grants: fileOfService(service, 'grants.sql', checkout),
    archiveGrants: fileOfService(service, 'archive-grants.sql', checkout),
    migrate: (roles) => migrateDatabase(service, roles, checkout),
  });
  cleanup.defer(() => database[Symbol.asyncDispose]().then(ignore, ignore));
  const { url, ownerUrl, runningUrl, archiveUrl } = database;
  return {
    ownerUrl,
    runningUrl,
    ...(archiveUrl !== undefined && { archiveUrl }),
    query: connectDatabase(url, cleanup),
  };
}

/** Queries over a pool that `cleanup` closes. */
export function connectDatabase(url: string, cleanup: AsyncDisposableStack): StackDatabase['query'] {
  const pool = new pg.Pool({ connectionString: url, max: 3, types, application_name: 'laurel-test' });
  pool.on('error', ignore);
  cleanup.defer(() => pool.end());
  return async (text, values = []) => (await pool.query(text, [...values])).rows;
}

/**
 * Runs the migrations of a checkout like a deployment: `migrate.ts` as the owner of the database.
 * Rejects with the output if `migrate.ts` fails.
 */
export function migrateDatabase(
  service: Service,
  { ownerUrl, runningUrl, archiveUrl }: DatabaseRoles,
  checkout = CHECKOUT,
): Promise<void> {
  const main = fileOfService(service, 'src/migrate.ts', checkout);
  const child = spawn(NODE, ['--disable-warning=ExperimentalWarning', main], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      [databaseVariableOf(service)]: runningUrl,
      [migrationVariableOf(service)]: ownerUrl,
      [archiveVariableOf(service)]: archiveUrl,
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

function ignore(): void {}
