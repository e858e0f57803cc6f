import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** A service's grants.sql, and the role that it grants to. */
export interface Grants {
  readonly file: URL | string;
  readonly runningRole: string;
  /** The service's archive-grants.sql, and the role that deletes archived months. */
  readonly archive?: { readonly file: URL | string; readonly role: string };
}

/**
 * psql's notation for a variable that is a name: `psql --set running_role=laurel_wallet --file
 * grants.sql` has the same effect.
 */
const RUNNING_ROLE = ':"running_role"';
const ARCHIVE_ROLE = ':"archive_role"';
const UNDEFINED_ROLE = '42704';

/**
 * Gives each role exactly the privileges of its file, in one transaction: first revokes all
 * privileges of the roles and of PUBLIC, then grants what the files list. Connects as the
 * database's owner. Does nothing and returns false if the owner is the running role itself, which
 * has every privilege anyway.
 */
export async function applyGrants(url: string, { file, runningRole, archive }: Grants): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, application_name: 'migrate' });
  await client.connect();
  try {
    const { rowCount: isOwner } = await client.query('select where current_user = $1', [runningRole]);
    if (isOwner) return false;
    await client.query('begin');
    await applyFile(client, { file, role: runningRole, variable: RUNNING_ROLE, purpose: 'runs the service' });
    if (archive !== undefined)
      await applyFile(client, { ...archive, variable: ARCHIVE_ROLE, purpose: 'deletes archived months' });
    await client.query('commit');
    return true;
  } finally {
    await client.end();
  }
}

async function applyFile(
  client: pg.Client,
  grants: {
    readonly file: URL | string;
    readonly role: string;
    readonly variable: string;
    readonly purpose: string;
  },
): Promise<void> {
  const { file } = grants;
  const role = pg.escapeIdentifier(grants.role);
  const sql = await readFile(file, 'utf8');
  try {
    await client.query(`
      revoke all on schema public from public, ${role};
      revoke all on all tables in schema public from public, ${role};
      revoke all on all sequences in schema public from public, ${role};
      revoke all on all routines in schema public from public, ${role};
      grant usage on schema public to ${role};
      ${sql.replaceAll(grants.variable, () => role)}`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (error.code === UNDEFINED_ROLE) {
      throw new Error(
        `the role ${grants.role} that ${grants.purpose} is not there: prepare the database first (docs/decisions/0016-run-as-a-role-that-owns-nothing.md)`,
        { cause: error },
      );
    }
    throw new Error(`${file instanceof URL ? fileURLToPath(file) : file}: ${error.message}`, { cause: error });
  }
}
