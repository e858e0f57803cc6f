import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** A service's grants.sql, and the role that it grants to. */
export interface Grants {
  readonly file: URL | string;
  readonly runningRole: string;
}

/**
 * psql's notation for a variable that is a name: `psql --set running_role=laurel_wallet --file
 * grants.sql` has the same effect.
 */
const RUNNING_ROLE = ':"running_role"';
const UNDEFINED_ROLE = '42704';

/**
 * Gives the running role exactly the privileges of the file, in one transaction: revokes all of the
 * role's and of PUBLIC's, then grants what the file lists. Connects as the database's owner. If the
 * owner is the running role itself, which has every privilege, does nothing and returns false.
 */
export async function applyGrants(url: string, { file, runningRole }: Grants): Promise<boolean> {
  const sql = await readFile(file, 'utf8');
  const role = pg.escapeIdentifier(runningRole);
  const client = new pg.Client({ connectionString: url, application_name: 'migrate' });
  await client.connect();
  try {
    const { rowCount: isOwner } = await client.query('select where current_user = $1', [runningRole]);
    if (isOwner) return false;
    await client.query(`
      begin;
      revoke all on schema public from public, ${role};
      revoke all on all tables in schema public from public, ${role};
      revoke all on all sequences in schema public from public, ${role};
      revoke all on all routines in schema public from public, ${role};
      grant usage on schema public to ${role};
      ${sql.replaceAll(RUNNING_ROLE, () => role)}
      commit`);
    return true;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (error.code === UNDEFINED_ROLE) {
      throw new Error(
        `the role ${runningRole} that runs the service is not there: prepare the database first (docs/decisions/0016-run-as-a-role-that-owns-nothing.md)`,
        { cause: error },
      );
    }
    throw new Error(`${file instanceof URL ? fileURLToPath(file) : file}: ${error.message}`, { cause: error });
  } finally {
    await client.end();
  }
}
