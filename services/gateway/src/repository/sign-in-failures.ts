/** Sign-ins that failed, counted exactly over all replicas. */
import type { Database, Queryable, Statement } from '@laurel/postgres';
import {
  decideSignIn,
  type FillingFailures,
  type SignInDecision,
  type SignInLimits,
} from '../domain/sign-in-throttle.ts';

export interface SignInAttempt {
  readonly id: string;
  readonly emailHash: Buffer;
  readonly addressHash: Buffer;
  readonly at: Date;
}

/**
 * One e-mail and one address, kept apart by the seed. Everybody takes the two in the order in which they stand here, so that no circle
 * of waiting can close.
 */
const LOCK: Statement = {
  name: 'lock_sign_in_subjects',
  text: `
    select
      pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 1)),
      pg_advisory_xact_lock(hashtextextended(encode($2, 'hex'), 2))`,
};

const SELECT_FILLING: Statement = {
  name: 'select_filling_sign_in_failures',
  text: `
    select
      (
        select failed_at from sign_in_failures
        where email_hash = $1 and failed_at > $3
        order by failed_at desc offset $4 limit 1
      ) as "ofEmail",
      (
        select failed_at from sign_in_failures
        where address_hash = $2 and failed_at > $3
        order by failed_at desc offset $5 limit 1
      ) as "ofAddress"`,
};

const INSERT: Statement = {
  name: 'insert_sign_in_failure',
  text: 'insert into sign_in_failures (id, email_hash, address_hash, failed_at) values ($1, $2, $3, $4)',
};

/**
 * Counts a sign-in as failed, unless its e-mail or its address is at its limit; beginning the session takes it back.
 * Not durable: a crash of the database forgives the last failures, which harms nobody.
 */
export async function admitSignIn(
  database: Database,
  attempt: SignInAttempt,
  limits: SignInLimits,
): Promise<SignInDecision> {
  // Who guesses on is refused for the price of one read, and without waiting for anybody.
  const atFirst = await decide(database, attempt, limits);
  if (atFirst.kind === 'limited') return atFirst;

  const { id, emailHash, addressHash, at } = attempt;
  return database.transaction(
    async (transaction) => {
      await transaction.query(LOCK, [emailHash, addressHash]);
      const decision = await decide(transaction, attempt, limits);
      if (decision.kind === 'limited') return decision;
      await transaction.commitWith((last) => last.query(INSERT, [id, emailHash, addressHash, at]));
      return decision;
    },
    { durable: false },
  );
}

async function decide(on: Queryable, attempt: SignInAttempt, limits: SignInLimits): Promise<SignInDecision> {
  const { emailHash, addressHash, at } = attempt;
  const [filling] = await on.query<FillingFailures>(SELECT_FILLING, [
    emailHash,
    addressHash,
    new Date(at.getTime() - limits.windowMs),
    limits.failuresPerEmail - 1,
    limits.failuresPerAddress - 1,
  ]);
  if (filling === undefined) throw new Error('a select without from answers one row');
  return decideSignIn(filling, limits, at);
}

const DELETE_OLD: Statement = {
  text: `
    with gone as (
      delete from sign_in_failures
      where id = any (array(select id from sign_in_failures where failed_at <= $1 limit $2))
      returning 1
    )
    select count(*)::integer as count from gone`,
};

/** Deletes up to `limit` failures that happened by then, and answers how many. */
export async function deleteOldFailures(database: Database, until: Date, limit: number): Promise<number> {
  const rows = await database.query<{ count: number }>(DELETE_OLD, [until, limit]);
  return rows[0]?.count ?? 0;
}
