/**
 * The sessions of developers in the portal. Every call looks its session up by the token's hash.
 */
import type { Database, Statement } from '@laurel/postgres';

export interface NewSession {
  readonly tokenHash: Buffer;
  readonly developerId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const INSERT: Statement = {
  name: 'insert_session',
  text: `
    with withdrawn as (delete from sign_in_failures where id = $5),
    known as (
      insert into known_clients (pair_hash, last_signed_in_at) values ($6, $3)
      on conflict (pair_hash) do update set last_signed_in_at = excluded.last_signed_in_at
    )
    insert into sessions (token_hash, developer_id, created_at, expires_at)
    values ($1, $2, $3, $4)`,
};

/**
 * Begins a session, removes the failure that its sign-in was counted as, and stores the client as
 * known to the e-mail.
 */
export async function insertSession(
  database: Database,
  session: NewSession,
  signedInBy: { readonly failureId: string; readonly pairHash: Buffer },
): Promise<void> {
  const { tokenHash, developerId, createdAt, expiresAt } = session;
  await database.query(INSERT, [
    tokenHash,
    developerId,
    createdAt,
    expiresAt,
    signedInBy.failureId,
    signedInBy.pairHash,
  ]);
}

const SELECT: Statement = {
  name: 'select_session',
  text: `
    select developer_id as "developerId", token_hash as "tokenHash"
    from sessions
    where token_hash = any ($1::bytea[]) and expires_at > $2`,
};

/**
 * The developer of a session, by the hashes under which its token may be stored; null if there is
 * no such session, or it has ended.
 */
export async function findSession(
  database: Database,
  tokenHashes: readonly Buffer[],
  now: Date,
): Promise<{ readonly developerId: string; readonly tokenHash: Buffer } | null> {
  const rows = await database.query<{ developerId: string; tokenHash: Buffer }>(SELECT, [tokenHashes, now]);
  return rows[0] ?? null;
}

const SELECT_DEVELOPER: Statement = {
  name: 'select_developer_of_session',
  text: `
    select developers.id, developers.email, sessions.expires_at as "expiresAt"
    from sessions
    join developers on developers.id = sessions.developer_id
    where sessions.token_hash = $1`,
};

/** The developer of a session with the session's end; null if it was deleted meanwhile. */
export async function findDeveloperOf(
  database: Database,
  tokenHash: Buffer,
): Promise<{ readonly id: string; readonly email: string; readonly expiresAt: Date } | null> {
  const rows = await database.query<{ id: string; email: string; expiresAt: Date }>(SELECT_DEVELOPER, [tokenHash]);
  return rows[0] ?? null;
}

const DELETE: Statement = { name: 'delete_session', text: 'delete from sessions where token_hash = $1' };

/** Ends a session, immediately on every replica. */
export async function deleteSession(database: Database, tokenHash: Buffer): Promise<void> {
  await database.query(DELETE, [tokenHash]);
}

// The role may not lock the rows that it deletes here, so one replica at a time deletes them.
const DELETE_EXPIRED: Statement = {
  text: `
    with gone as (
      delete from sessions
      where token_hash = any (array(
          select token_hash from sessions
          where (select pg_try_advisory_xact_lock(hashtextextended('delete expired sessions', 0))) and expires_at <= $1
          limit $2
        ))
      returning 1
    )
    select count(*)::integer as count from gone`,
};

/** Deletes up to `limit` sessions that have ended, and returns how many. */
export async function deleteExpiredSessions(database: Database, now: Date, limit: number): Promise<number> {
  const rows = await database.query<{ count: number }>(DELETE_EXPIRED, [now, limit]);
  return rows[0]?.count ?? 0;
}
