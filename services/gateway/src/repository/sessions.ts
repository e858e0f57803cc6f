/** Who is signed in to the portal. A session is looked up by the hash of its token, at every call. */
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
    with withdrawn as (delete from sign_in_failures where id = $5)
    insert into sessions (token_hash, developer_id, created_at, expires_at)
    values ($1, $2, $3, $4)`,
};

/** Begins a session, and takes back the failure that its sign-in was counted as. */
export async function insertSession(database: Database, session: NewSession, failureId: string): Promise<void> {
  const { tokenHash, developerId, createdAt, expiresAt } = session;
  await database.query(INSERT, [tokenHash, developerId, createdAt, expiresAt, failureId]);
}

const SELECT: Statement = {
  name: 'select_session',
  text: 'select developer_id as "developerId" from sessions where token_hash = $1 and expires_at > $2',
};

/** Whose session it is; null when there is none, or it is over. */
export async function findSession(database: Database, tokenHash: Buffer, now: Date): Promise<string | null> {
  const rows = await database.query<{ developerId: string }>(SELECT, [tokenHash, now]);
  return rows[0]?.developerId ?? null;
}

const DELETE: Statement = { name: 'delete_session', text: 'delete from sessions where token_hash = $1' };

/** Ends a session, on every replica at once. */
export async function deleteSession(database: Database, tokenHash: Buffer): Promise<void> {
  await database.query(DELETE, [tokenHash]);
}

const DELETE_EXPIRED: Statement = {
  text: `
    with gone as (
      delete from sessions
      where token_hash = any (array(select token_hash from sessions where expires_at <= $1 limit $2))
      returning 1
    )
    select count(*)::integer as count from gone`,
};

/** Deletes up to `limit` sessions that are over, and answers how many. */
export async function deleteExpiredSessions(database: Database, now: Date, limit: number): Promise<number> {
  const rows = await database.query<{ count: number }>(DELETE_EXPIRED, [now, limit]);
  return rows[0]?.count ?? 0;
}
