/** The links that sign a developer in once. A link that was used is deleted. */
import type { Database, Statement } from '@laurel/postgres';
import type { NewSession } from './sessions.ts';

const INSERT: Statement = {
  name: 'insert_sign_in_link',
  text: `
    insert into sign_in_links (token_hash, developer_id, created_at, expires_at)
    select $1, id, $3, $4 from developers where id = $2
    returning developer_id`,
};

/** Stores a link; false if there is no such developer. */
export async function insertSignInLink(
  database: Database,
  link: {
    readonly tokenHash: Buffer;
    readonly developerId: string;
    readonly createdAt: Date;
    readonly expiresAt: Date;
  },
): Promise<boolean> {
  const { tokenHash, developerId, createdAt, expiresAt } = link;
  const rows = await database.query(INSERT, [tokenHash, developerId, createdAt, expiresAt]);
  return rows.length === 1;
}

// If two exchanges of a link are concurrent, the first to delete the row gets the link. The other
// exchange finds no row, and begins no session.
const USE: Statement = {
  name: 'use_sign_in_link',
  text: `
    with used as (
      delete from sign_in_links where token_hash = any ($1::bytea[]) and expires_at > $3 returning developer_id
    ),
    withdrawn as (delete from sign_in_failures where id = $5 and exists (select from used))
    insert into sessions (token_hash, developer_id, created_at, expires_at)
    select $2, developer_id, $3, $4 from used
    returning developer_id as "developerId"`,
};

/**
 * Uses up a link, begins a session of its developer, and removes the failure that the exchange was
 * counted as. Returns the developer's id; null if no link has one of the hashes, or it has expired.
 */
export async function useSignInLink(
  database: Database,
  linkHashes: readonly Buffer[],
  session: Omit<NewSession, 'developerId'>,
  failureId: string,
): Promise<string | null> {
  const { tokenHash, createdAt, expiresAt } = session;
  const rows = await database.query<{ developerId: string }>(USE, [
    linkHashes,
    tokenHash,
    createdAt,
    expiresAt,
    failureId,
  ]);
  return rows[0]?.developerId ?? null;
}

// The role may not lock the rows that it deletes here, so one replica at a time deletes them.
const DELETE_EXPIRED: Statement = {
  text: `
    with gone as (
      delete from sign_in_links
      where token_hash = any (array(
          select token_hash from sign_in_links
          where (select pg_try_advisory_xact_lock(hashtextextended('delete expired sign-in links', 0))) and expires_at <= $1
          limit $2
        ))
      returning 1
    )
    select count(*)::integer as count from gone`,
};

/** Deletes up to `limit` links that have expired, and returns how many. */
export async function deleteExpiredLinks(database: Database, now: Date, limit: number): Promise<number> {
  const rows = await database.query<{ count: number }>(DELETE_EXPIRED, [now, limit]);
  return rows[0]?.count ?? 0;
}
