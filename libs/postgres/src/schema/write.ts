/**
 * Writes `services/<service>/schema.sql`, the result of all migrations of a service: `npm run
 * schema`.
 *
 * The migrations run in PGlite, PostgreSQL as WebAssembly, because it comes with the genuine
 * pg_dump, which the server's package lacks (decision 12). `schema.test.ts` compares the result
 * with the real server.
 */
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { pgDump } from '@electric-sql/pglite-tools/pg_dump';
import { readMigrations } from '../migrate.ts';

const HEADER = `-- Derived from migrations/ by \`npm run schema\`; do not edit. Tables, constraints and indexes as they are after all of them.
-- The reasons of a migration, and the rows that it inserts, are there.
`;

async function dumpSchema(database: PGlite, migrations: string): Promise<string> {
  for (const { name, sql } of await readMigrations(migrations)) {
    try {
      await database.transaction(async (transaction) => await transaction.exec(sql));
    } catch (error) {
      // Otherwise Node would print the line of minified code that threw.
      throw new Error(
        `${join(migrations, name)} does not run: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  const dump = await pgDump({ pg: database, args: ['--schema-only', '--no-owner', '--no-privileges'] });
  return tidy(await dump.text());
}

/**
 * Removes what pg_dump writes for every database and object alike: versions, titles, and settings,
 * except the one without which a function cannot be created before the tables that it reads.
 */
function tidy(dump: string): string {
  return dump
    .replaceAll(/^(--|SET (?!check_function_bodies)|SELECT pg_catalog\.set_config).*\n/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

/** Empties a database, which takes no time; creating one takes seconds. */
async function empty(database: PGlite): Promise<void> {
  // pg_dump leaves its read-only transaction open and its settings in place.
  await database.exec('rollback');
  await database.exec('discard all');
  await database.exec('drop schema public cascade; create schema public');
  // initdb's text: pg_dump would dump any other.
  await database.exec("comment on schema public is 'standard public schema'");
}

const database = await PGlite.create();
const services = fileURLToPath(new URL('../../../../services/', import.meta.url));
for (const migrations of globSync('*/migrations', { cwd: services }).sort()) {
  const schema = await dumpSchema(database, join(services, migrations));
  writeFileSync(join(services, migrations, '../schema.sql'), `${HEADER}\n${schema}\n`);
  await empty(database);
}
await database.close();
