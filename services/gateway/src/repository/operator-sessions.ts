/** The sessions of operators. Every call looks its session up by the token's hash. */
import type { Database, Statement } from '@laurel/postgres';
import { MAX_SESSIONS_OF_AN_OPERATOR } from '../domain/operator-session.ts';

export interface StoredOperatorSession {
  readonly tokenHash: Buffer;
  /** The hash of the operator token that opened the session, with its holder's name. */
  readonly operatorTokenHash: Buffer;
  readonly expiresAt: Date;
}

export interface NewOperatorSession extends StoredOperatorSession {
  readonly operator: string;
  readonly createdAt: Date;
}

const LOCK: Statement = {
  name: 'lock_operator_sessions',
  text: `select pg_advisory_xact_lock(hashtextextended('operator sessions ' || $1, 0))`,
};

const DELETE_OLDEST: Statement = {
  name: 'delete_oldest_operator_session',
  text: `
    delete from operator_sessions
    where token_hash = (
        select token_hash from operator_sessions where operator = $1
        order by created_at desc, token_hash offset $2 limit 1
      )`,
};

const INSERT: Statement = {
  name: 'insert_operator_session',
  text: `
    insert into operator_sessions (token_hash, operator, operator_token_hash, created_at, expires_at)
    values ($1, $2, $3, $4, $5)`,
};

/**
 * Begins a session. The sessions of one operator begin one after the other, so that an operator
 * never has more than the limit. A session beyond the limit ends the oldest one.
 */
export async function insertOperatorSession(database: Database, session: NewOperatorSession): Promise<void> {
  const { tokenHash, operator, operatorTokenHash, createdAt, expiresAt } = session;
  await database.transaction(async (transaction) => {
    await transaction.query(LOCK, [operator]);
    await transaction.query(DELETE_OLDEST, [operator, MAX_SESSIONS_OF_AN_OPERATOR - 1]);
    await transaction.query(INSERT, [tokenHash, operator, operatorTokenHash, createdAt, expiresAt]);
  });
}

const SELECT: Statement = {
  name: 'select_operator_session',
  text: `
    select token_hash as "tokenHash", operator_token_hash as "operatorTokenHash", expires_at as "expiresAt"
    from operator_sessions
    where token_hash = any ($1::bytea[]) and expires_at > $2`,
};

/**
 * A session by the hashes under which its token may be stored; null if there is none, or it has
 * ended.
 */
export async function findOperatorSession(
  database: Database,
  tokenHashes: readonly Buffer[],
  now: Date,
): Promise<StoredOperatorSession | null> {
  const rows = await database.query<StoredOperatorSession>(SELECT, [tokenHashes, now]);
  return rows[0] ?? null;
}

const DELETE: Statement = {
  name: 'delete_operator_session',
  text: 'delete from operator_sessions where token_hash = $1',
};

/** Ends a session, immediately on every replica. */
export async function deleteOperatorSession(database: Database, tokenHash: Buffer): Promise<void> {
  await database.query(DELETE, [tokenHash]);
}

// The role may not lock the rows that it deletes here, so one replica at a time deletes them.
const DELETE_EXPIRED: Statement = {
  text: `
    with gone as (
      delete from operator_sessions
      where token_hash = any (array(
          select token_hash from operator_sessions
          where (select pg_try_advisory_xact_lock(hashtextextended('delete expired operator sessions', 0)))
            and expires_at <= $1
          limit $2
        ))
      returning 1
    )
    select count(*)::integer as count from gone`,
};

/** Deletes up to `limit` sessions that have ended, and returns how many. */
export async function deleteExpiredOperatorSessions(database: Database, now: Date, limit: number): Promise<number> {
  const rows = await database.query<{ count: number }>(DELETE_EXPIRED, [now, limit]);
  return rows[0]?.count ?? 0;
}
