import type { Database } from './database.ts';
import type { Statement } from './step.ts';
import { verifyAtStart } from './verify-at-start.ts';

export interface RunningRoleOptions {
  /**
   * Whether an operator accepts one role that both owns the database and runs the service; a start
   * with such a role is logged once.
   */
  readonly isPrivilegedAllowed: boolean;
  readonly logger: { warn(message: string): void };
}

/** The service's role may change more than its grants.sql allows. */
export class PrivilegedRoleError extends Error {
  override readonly name = 'PrivilegedRoleError';
}

// The owner of a database or table has every privilege on it, and can restore a revoked privilege.
const POWERS: Statement = {
  text: `
    select r.rolname as role, array_remove(array[
      case when r.rolsuper then 'is a superuser' end,
      case when r.rolcreaterole then 'may create roles' end,
      case when r.rolcreatedb then 'may create databases' end,
      case when r.rolreplication then 'may replicate' end,
      case when r.rolbypassrls then 'passes row-level security' end,
      case when exists (select from pg_auth_members m where m.member = r.oid) then 'is a member of another role' end,
      case when d.datdba = r.oid then 'owns the database' end,
      case when exists (select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relowner = r.oid)
        then 'owns tables' end,
      case when has_schema_privilege(r.oid, 'public', 'create') then 'may create tables' end,
      case when has_database_privilege(r.oid, d.oid, 'create') then 'may create schemas' end,
      case when has_database_privilege(r.oid, d.oid, 'temporary') then 'may create temporary tables' end
    ], null) as powers
    from pg_roles r, pg_database d
    where r.rolname = session_user and d.datname = current_database()`,
};

/**
 * Rejects with PrivilegedRoleError if the service's role has more privileges than a running role
 * (roles.ts).
 */
export function verifyRunningRole(database: Database, options: RunningRoleOptions): Promise<Disposable> {
  return verifyAtStart(() => verify(database, options));
}

async function verify(database: Database, { isPrivilegedAllowed, logger }: RunningRoleOptions): Promise<void> {
  const [found] = await database.query<{ role: string; powers: string[] }>(POWERS);
  if (found === undefined || found.powers.length === 0) return;
  const what = `the role ${found.role} of this service's database URL ${found.powers.join(', ')}`;
  if (isPrivilegedAllowed) {
    logger.warn(
      `${what}: a process with this URL can change rows that must never change, and the database does not stop it`,
    );
    return;
  }
  throw new PrivilegedRoleError(
    `${what}: give the service a role that may do what its grants.sql allows and no more, and the owner's URL to migrate.ts alone ` +
      '(decision 16), or set ALLOW_PRIVILEGED_DATABASE_ROLE=true',
  );
}
