/**
 * Each database of a test run is a clone of a template on the run's one server. The first caller
 * that needs a template makes it, and callers in this and other processes wait. The template's name
 * contains a hash of its source files, so a changed file, or another release, leads to another
 * template.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseRoles, giveDatabase, prepareDatabase, roleOf } from '@laurel/postgres/roles';
import pg from 'pg';

/** What a template is made from. */
export interface SchemaSources {
  /**
   * The service that owns these databases. The names of the databases' roles contain the service's
   * name.
   */
  readonly service: string;
  /** The folder of the service's migrations. */
  readonly migrations: string;
  /** The file of the service's grants, which may be absent. */
  readonly grants: string;
  /** The file with the grants of the archive's role; absent if the service deletes no months. */
  readonly archiveGrants: string;
  /** Applies the migrations and grants to an empty database with these roles. */
  migrate(roles: DatabaseRoles): Promise<unknown>;
}

export interface ClonedDatabase extends DatabaseRoles, AsyncDisposable {
  /** The URL of the superuser. */
  readonly url: string;
}

/**
 * Creates a database with the schema; disposing drops the database. `serverUrl` is the superuser's
 * URL.
 */
export async function cloneTemplate(serverUrl: string, schema: SchemaSources): Promise<ClonedDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const roles = rolesOf(serverUrl, schema, name);
  await administer(serverUrl, async (client) => {
    const template = await ensureTemplate(client, serverUrl, schema);
    // Copies the files, because writing each page to the log costs twice as much.
    await client.query(`create database ${name} template ${template} strategy file_copy`);
    const { ownerUrl, runningUrl, archiveUrl } = roles;
    const connecting = [runningUrl, ...(archiveUrl === undefined ? [] : [archiveUrl])].map(roleOf);
    await giveDatabase(client, name, { owner: roleOf(ownerUrl), connecting });
  });
  return {
    ...roles,
    url: withDatabase(serverUrl, name),
    [Symbol.asyncDispose]: async () => {
      await administer(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}

async function ensureTemplate(client: pg.Client, serverUrl: string, schema: SchemaSources): Promise<string> {
  const template = `template_${hashOf(schema)}`;
  if (await exists(client, template)) return template;
  // The lock ends with the session.
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [template]);
  if (await exists(client, template)) return template;
  const draft = `${template}_draft`;
  await client.query(`drop database if exists ${draft} with (force)`);
  const roles = rolesOf(serverUrl, schema, draft);
  await prepareDatabase(serverUrl, roles);
  await schema.migrate(roles);
  await client.query(`alter database ${draft} rename to ${template}`);
  return template;
}

function hashOf({ service, migrations, grants, archiveGrants }: SchemaSources): string {
  const hash = createHash('sha256').update(service);
  for (const file of readdirSync(migrations).sort()) hash.update(file).update(readFileSync(join(migrations, file)));
  for (const file of [grants, archiveGrants]) if (existsSync(file)) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 32);
}

/**
 * Returns the roles of a service's databases on this run's server. Their names differ from the
 * names of a stack's roles on the same server. Every process of the run derives the same passwords.
 */
function rolesOf(serverUrl: string, { service, archiveGrants }: SchemaSources, database: string): DatabaseRoles {
  const urlOf = (role: string) => {
    const url = new URL(withDatabase(serverUrl, database));
    url.password = createHmac('sha256', url.password).update(role).digest('base64url');
    url.username = role;
    return url.href;
  };
  return {
    ownerUrl: urlOf(`laurel_test_${service}_owner`),
    runningUrl: urlOf(`laurel_test_${service}`),
    ...(existsSync(archiveGrants) && { archiveUrl: urlOf(`laurel_test_${service}_archive`) }),
  };
}

async function exists(client: pg.Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database]);
  return rowCount === 1;
}

async function administer<T>(serverUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: withDatabase(serverUrl, 'postgres') });
  // Ignored: if the server ends meanwhile, the query under way fails and reports the error.
  client.on('error', () => {});
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
