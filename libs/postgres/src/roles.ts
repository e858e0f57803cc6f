/**
 * A service's database and the two roles that may connect to it. The owner owns everything in it,
 * and migrates. The service runs as the running role, with the privileges of grants.sql
 * (grants.ts). Neither may connect to another service's database.
 */
import './no-libpq-environment.ts';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';

/** URLs of one database, with its roles and their passwords. */
export interface DatabaseRoles {
  readonly ownerUrl: string;
  readonly runningUrl: string;
  /**
   * The role that deletes archived months (decision 38). Most databases have none. It may log in
   * only during a run.
   */
  readonly archiveUrl?: string;
}

interface Login {
  readonly role: string;
  readonly password: string;
  readonly database: string;
}

/** The server's default number of iterations. */
const SCRAM_ITERATIONS = 4096;
const LOCK = 'laurel roles';

/**
 * Creates missing roles and the database, and corrects attributes, passwords, ownership and who may
 * connect. Safe at any time, for several processes at once, and on a database that one superuser
 * owned and used for everything. Runs as a superuser.
 */
export async function prepareDatabase(superuserUrl: string, roles: DatabaseRoles): Promise<void> {
  const owner = loginOf(roles.ownerUrl);
  const running = loginOf(roles.runningUrl);
  const archive = roles.archiveUrl === undefined ? [] : [loginOf(roles.archiveUrl)];
  for (const { role, database } of [running, ...archive]) {
    if (database === owner.database) continue;
    throw new Error(`the owner's URL names the database ${owner.database} and that of ${role} ${database}`);
  }
  await asSuperuser(superuserUrl, async (client) => {
    if (owner.role === running.role) throw new Error(`the owner and the running role are both ${owner.role}`);
    const logins = [owner, running, ...archive];
    const names = logins.map(({ role }) => role);
    if (new Set(names).size < names.length) throw new Error(`the archive’s role is one of ${names.slice(0, 2).join()}`);
    const { rowCount: isSelf } = await client.query('select where current_user = any($1)', [names]);
    if (isSelf) throw new Error('the superuser who prepares the database cannot be one of its roles');
    // Roles belong to the whole server: one of two concurrent changes would fail.
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [LOCK]);
    for (const login of logins) await putRole(client, login);
    const found = await client.query('select from pg_database where datname = $1', [owner.database]);
    if (found.rowCount === 0) {
      await client.query(
        `create database ${pg.escapeIdentifier(owner.database)} owner ${pg.escapeIdentifier(owner.role)}`,
      );
    }
    await giveDatabase(client, owner.database, { owner: owner.role, connecting: names.slice(1) });
    // The lock is held until this ends too: a schema's privileges are one row, and concurrent
    // changes of one row fail.
    await asSuperuser(urlOf(superuserUrl, owner.database), (inside) => giveObjects(inside, owner.role));
  });
}

/**
 * Makes the owner own the database, and lets only the other roles connect. A copied database needs
 * this too: a copy has neither the owner nor the connect privileges.
 */
export async function giveDatabase(
  client: pg.Client,
  database: string,
  roles: { readonly owner: string; readonly connecting: readonly string[] },
): Promise<void> {
  const [name, owner] = [database, roles.owner].map(pg.escapeIdentifier);
  const connecting = roles.connecting.map(pg.escapeIdentifier).join();
  await client.query(`
    begin;
    alter database ${name} owner to ${owner};
    revoke all on database ${name} from public, ${connecting};
    grant connect on database ${name} to ${connecting};
    commit`);
}

async function putRole(client: pg.Client, { role, password }: Login): Promise<void> {
  const name = pg.escapeIdentifier(role);
  const found = await client.query('select from pg_roles where rolname = $1', [role]);
  if (found.rowCount === 0) await client.query(`create role ${name}`);
  const secret = password === '' ? '' : `password ${pg.escapeLiteral(scramVerifier(password))}`;
  await client.query(
    `alter role ${name} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls noinherit ${secret}`,
  );
  const others = await client.query<{ name: string }>(
    'select roleid::regrole::text as name from pg_auth_members where member = (select oid from pg_roles where rolname = $1)',
    [role],
  );
  for (const other of others.rows) await client.query(`revoke ${other.name} from ${name}`);
}

/** Gives the owner the objects of other roles, for example of a superuser, or after a restore. */
async function giveObjects(client: pg.Client, owner: string): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(FOREIGN_OBJECTS, [owner]);
  await client.query('begin');
  await client.query('revoke all on schema public from public');
  for (const { statement } of rows) await client.query(statement);
  await client.query('commit');
}

// A column's sequence and a table's row type follow their table. An extension's objects stay with
// the role that created it.
const FOREIGN_OBJECTS = `
  with owner as (select oid, quote_ident(rolname) as name from pg_roles where rolname = $1),
  bound as (select classid, objid from pg_depend where deptype in ('e', 'i') or deptype = 'a' and classid = 'pg_class'::regclass
    and refobjsubid > 0)
  select format('alter table %s owner to %s', c.oid::regclass, owner.name) as statement
  from pg_class c, owner
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and c.relowner <> owner.oid
    and ('pg_class'::regclass, c.oid) not in (table bound)
  union all
  select format('alter routine %s owner to %s', p.oid::regprocedure, owner.name)
  from pg_proc p, owner
  where p.pronamespace = 'public'::regnamespace and p.proowner <> owner.oid and ('pg_proc'::regclass, p.oid) not in (table bound)
  union all
  select format('alter type %s owner to %s', t.oid::regtype, owner.name)
  from pg_type t, owner
  where t.typnamespace = 'public'::regnamespace and t.typtype in ('d', 'e', 'r') and t.typowner <> owner.oid
    and ('pg_type'::regclass, t.oid) not in (table bound)`;

function loginOf(text: string): Login {
  const url = new URL(text);
  const role = decodeURIComponent(url.username);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (role === '' || database === '') throw new Error('a URL must name its role and its database');
  return { role, password: decodeURIComponent(url.password), database };
}

/** The role that a URL logs in as. */
export function roleOf(url: string): string {
  return loginOf(url).role;
}

/**
 * The verifier that the server stores for a password (RFC 5803). It is sent instead of the
 * password, so that no log contains the password.
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, SCRAM_ITERATIONS, 32, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const keys = `${storedKey}:${keyOf('Server Key').toString('base64')}`;
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${keys}`;
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  return url.href;
}

async function asSuperuser(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'laurel-prepare' });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
