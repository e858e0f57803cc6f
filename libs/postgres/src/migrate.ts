import './no-libpq-environment.ts';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import knex, { type Knex } from 'knex';
import pg from 'pg';
import { applyGrants, type Grants } from './grants.ts';
import { READ_BACKEND, verifyIsDirect } from './pooler.ts';

/**
 * Migrations are `*.sql` files. Each runs once, in the order of the names, forward only, in one
 * transaction with its record.
 * Nobody edits a file that has run: its checksum is stored, and a changed or missing file stops the
 * start.
 * Replicas that start together take turns by an advisory lock, which ends with its process. A row
 * of knex's own lock that is found under it is left over from a killed process, so it is freed.
 */
export interface MigrateOptions {
  readonly url: string;
  /** The folder of the `*.sql` files. */
  readonly directory: URL | string;
  /** Applied again after the migrations of each start. */
  readonly grants?: Grants;
  readonly logger?: { info(fields: object, message: string): void };
}

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** knex would print the errors that it then throws. */
const SILENT = { warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {} };
const ADVISORY_LOCK_KEY = 'laurel migrations';
const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
const CHECKSUM_TABLE = 'migration_checksums';

/** Returns the names of the files that this call ran. */
export async function migrate({ url, directory, grants, logger }: MigrateOptions): Promise<readonly string[]> {
  const migrations = await readMigrations(directory instanceof URL ? fileURLToPath(directory) : directory);
  await using turn = await lockMigrations(url);
  void turn;
  const database = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 }, log: SILENT });
  try {
    await database.raw(`create table if not exists ${CHECKSUM_TABLE} (name text primary key, sha256 text not null)`);
    await verifyRun(database, migrations);
    const migrator = database.migrate;
    await migrator.forceFreeMigrationsLock(configuration(migrations));
    const names: string[] = [];
    // The migrations run one by one: `latest` would put all of them into one transaction.
    for (;;) {
      const [, [name]] = (await migrator.up(configuration(migrations))) as [number, string[]];
      if (name === undefined) break;
      logger?.info({ migration: name }, 'migrated');
      names.push(name);
    }
    if (grants !== undefined) await applyGrants(url, grants);
    return names;
  } finally {
    await database.destroy();
  }
}

export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const odd = names.find((name) => !FILE_NAME.test(name));
  if (odd !== undefined) throw new Error(`${join(directory, odd)} is not named like 0001_create_accounts.sql`);
  return await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(directory, name), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

function configuration(migrations: readonly Migration[]): Knex.MigratorConfig {
  return {
    tableName: 'migrations',
    migrationSource: {
      getMigrations: async () => [...migrations],
      getMigrationName: (migration) => migration.name,
      getMigration: async (migration) => ({
        up: (transaction) => runMigration(transaction, migration),
        down: () => Promise.reject(new Error('migrations only go forward')),
      }),
    } satisfies Knex.MigrationSource<Migration>,
  };
}

async function runMigration(transaction: Knex, { name, sql, checksum }: Migration): Promise<void> {
  // The text goes directly to the connection: knex would read a question mark as a placeholder,
  // even in a comment.
  const connection: pg.Client = await transaction.client.acquireConnection();
  await connection.query(sql);
  await connection.query(`insert into ${CHECKSUM_TABLE} (name, sha256) values ($1, $2)`, [name, checksum]);
}

async function verifyRun(database: Knex, migrations: readonly Migration[]): Promise<void> {
  const present = new Map(migrations.map(({ name, checksum }) => [name, checksum]));
  const known: { name: string; sha256: string }[] = await database(CHECKSUM_TABLE).orderByRaw('name collate "C"');
  for (const { name, sha256 } of known) {
    const checksum = present.get(name);
    if (checksum === undefined)
      throw new Error(`the migration ${name} has run on this database, and its file is missing`);
    if (checksum !== sha256) {
      throw new Error(
        `the migration ${name} was edited after it ran on this database: put it back and write a new one`,
      );
    }
  }
  const hasRun = new Set(known.map(({ name }) => name));
  const newest = known.at(-1)?.name;
  const late = migrations.find(({ name }) => newest !== undefined && name < newest && !hasRun.has(name));
  if (late !== undefined)
    throw new Error(`the migration ${late.name} would have to run before ${newest}, which has run`);
}

/**
 * Lets one process migrate a database at a time. The lock belongs to the session, so a killed
 * process leaves none behind.
 */
async function lockMigrations(url: string): Promise<AsyncDisposable> {
  await using held = new AsyncDisposableStack();
  const session = held.adopt(new pg.Client({ connectionString: url, application_name: 'migrate' }), (client) =>
    client.end(),
  );
  await session.connect();
  verifyIsDirect(session, (await session.query(READ_BACKEND)).rows[0]);
  await session.query('select pg_advisory_lock(hashtextextended($1, 0))', [ADVISORY_LOCK_KEY]);
  return held.move();
}
