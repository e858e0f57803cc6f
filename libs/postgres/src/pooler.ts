/**
 * Refuses a connection pooler (PgBouncer, CloudNativePG's `Pooler`, Odyssey, a database proxy)
 * between a process and PostgreSQL.
 *
 * A connection here is one session from its first byte to its last: its startup sends settings, it
 * prepares statements by name once, and a migrating process holds a lock of its session. A pooler
 * drops the settings, and gives each transaction another session. A proxy that only forwards bytes,
 * such as a TCP load balancer, is not a pooler.
 *
 * PostgreSQL names the process that serves a session twice: in the startup (BackendKeyData, for
 * cancelling) and in response to a query. A pooler answers the startup itself, with a number of its
 * own, so the two differ, except by chance: one in four billion for each first connection. A pooler
 * that refuses the settings does so in the startup.
 */
import pg, { type Client } from 'pg';

/** The database URL leads to a connection pooler. */
export class PoolerError extends Error {
  override readonly name = 'PoolerError';
}

/** SQLSTATE of a startup with refused settings. PostgreSQL itself never refuses one with it. */
const PROTOCOL_VIOLATION = '08P01';

const WHAT_TO_DO =
  'give the service the address of PostgreSQL itself; it keeps a pool of its own, whose size is its *_DATABASE_POOL ' +
  '(docs/operations/postgresql.md)';

/** Names the process that serves the session. */
export const READ_BACKEND = { text: 'select pg_backend_pid() as pid' };

/** Throws a PoolerError unless `READ_BACKEND` names the same process as the session's startup. */
export function verifyIsDirect(client: Client, answer: unknown): void {
  const serving = pidOf(answer, 'pid');
  // @types/pg does not declare the property.
  const announced = pidOf(client, 'processID');
  if (serving !== undefined && serving === announced) return;
  throw new PoolerError(
    `a connection pooler stands between this process and PostgreSQL (the startup of the session named process ${announced}, and ` +
      `process ${serving} serves it): ${WHAT_TO_DO}`,
  );
}

function pidOf(holder: unknown, property: 'pid' | 'processID'): unknown {
  if (typeof holder !== 'object' || holder === null) return undefined;
  return Object.entries(holder).find(([name]) => name === property)?.[1];
}

/** Maps a failure to connect: a startup that a pooler refused becomes a PoolerError. */
export function connectErrorOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error('a connection failed', { cause: error });
  if (!(error instanceof pg.DatabaseError) || error.code !== PROTOCOL_VIOLATION) return error;
  return new PoolerError(
    `the startup of a session was refused (${error.message}), as a connection pooler does: ${WHAT_TO_DO}`,
    { cause: error },
  );
}
