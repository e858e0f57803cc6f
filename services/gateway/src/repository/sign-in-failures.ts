/** Failed sign-ins, counted exactly over all replicas. */
import type { Database, Queryable, Statement } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { countsThatMatter } from '../domain/backoff.ts';
import {
  decideSignIn,
  type SignInDecision,
  type SignInFailures,
  type SignInLimits,
} from '../domain/sign-in-throttle.ts';

export interface SignInAttempt {
  readonly id: string;
  readonly emailHash: Buffer;
  readonly addressHash: Buffer;
  /** The e-mail and the client as a pair, hashed under each pepper. */
  readonly pairHashes: readonly Buffer[];
}

/**
 * Locks one e-mail and one address. The two are hashed with different seeds, so that an e-mail and
 * an address do not take the same lock. Every transaction locks the two in this order, so that
 * transactions cannot deadlock.
 */
const LOCK: Statement = {
  name: 'lock_sign_in_subjects',
  text: `
    select
      pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 1)),
      pg_advisory_xact_lock(hashtextextended(encode($2, 'hex'), 2))`,
};

/**
 * The newest failures of each kind, no more than can affect the decision. A window has few of them,
 * because each failure delays the next.
 */
const SELECT_FAILURES: Statement = {
  name: 'select_sign_in_failures',
  text: `
    select
      exists (select from known_clients where pair_hash = any ($3::bytea[])) as "isKnownClient",
      pair.count as "pairCount",
      pair.newest as "pairNewest",
      email.count as "emailCount",
      email.newest as "emailNewest",
      address.count as "addressCount",
      address.newest as "addressNewest"
    from (
      select count(*)::integer as count, max(failed_at) as newest
      from (
        select failed_at from sign_in_failures
        where email_hash = $1 and address_hash = $2 and failed_at > $4
        order by failed_at desc limit $5
      ) as failures
    ) as pair
    cross join (
      select count(*)::integer as count, max(failed_at) as newest
      from (
        select failed_at from sign_in_failures
        where email_hash = $1 and not from_known_client and failed_at > $4
        order by failed_at desc limit $6
      ) as failures
    ) as email
    cross join (
      select count(*)::integer as count, max(failed_at) as newest
      from (
        select failed_at from sign_in_failures
        where address_hash = $2 and not from_known_client and failed_at > $4
        order by failed_at desc limit $7
      ) as failures
    ) as address`,
};

interface FailuresRow {
  readonly isKnownClient: boolean;
  readonly pairCount: number;
  readonly pairNewest: Date | null;
  readonly emailCount: number;
  readonly emailNewest: Date | null;
  readonly addressCount: number;
  readonly addressNewest: Date | null;
}

const INSERT: Statement = {
  name: 'insert_sign_in_failure',
  text: `
    insert into sign_in_failures (id, email_hash, address_hash, from_known_client, failed_at)
    values ($1, $2, $3, $4, $5)`,
};

/**
 * Decides whether a sign-in must wait. If not, counts it as failed; its session, once begun,
 * deletes that failure. The commit does not wait for the disk: after a crash of the database the
 * last failures no longer count, which harms no account.
 *
 * The clock is read after the failures, and for a new failure under the lock. So no failure is
 * newer than the decision that reads it, and no caller waits longer than the delay.
 */
export async function admitSignIn(
  database: Database,
  attempt: SignInAttempt,
  limits: SignInLimits,
  clock: Clock,
): Promise<SignInDecision> {
  // A caller that keeps guessing is refused at the cost of one read, without waiting for a lock.
  const before = await load(database, attempt, limits, clock());
  const atFirst = decideSignIn(before, limits, clock());
  if (atFirst.kind === 'limited') return atFirst;

  const { id, emailHash, addressHash } = attempt;
  return database.transaction(
    async (transaction) => {
      await transaction.query(LOCK, [emailHash, addressHash]);
      const failures = await load(transaction, attempt, limits, clock());
      const at = clock();
      const decision = decideSignIn(failures, limits, at);
      if (decision.kind === 'limited') return decision;
      const failure = [id, emailHash, addressHash, failures.isKnownClient, at];
      await transaction.commitWith((last) => last.query(INSERT, failure));
      return decision;
    },
    { durable: false },
  );
}

async function load(
  on: Queryable,
  { emailHash, addressHash, pairHashes }: SignInAttempt,
  limits: SignInLimits,
  now: Date,
): Promise<SignInFailures> {
  const [row] = await on.query<FailuresRow>(SELECT_FAILURES, [
    emailHash,
    addressHash,
    pairHashes,
    new Date(now.getTime() - limits.windowMs),
    countsThatMatter(limits.failuresPerPair, limits),
    countsThatMatter(limits.failuresPerEmail, limits),
    countsThatMatter(limits.failuresPerAddress, limits),
  ]);
  if (row === undefined) throw new Error('a select of aggregates returned no row');
  return {
    isKnownClient: row.isKnownClient,
    ofPair: { count: row.pairCount, newest: row.pairNewest },
    ofEmail: { count: row.emailCount, newest: row.emailNewest },
    ofAddress: { count: row.addressCount, newest: row.addressNewest },
  };
}

// The role may not lock the rows that it deletes here, so one replica at a time deletes them.
const DELETE_OLD: Statement = {
  text: `
    with gone as (
      delete from sign_in_failures
      where id = any (array(
          select id from sign_in_failures
          where (select pg_try_advisory_xact_lock(hashtextextended('delete old sign-in failures', 0))) and failed_at <= $1
          limit $2
        ))
      returning 1
    )
    select count(*)::integer as count from gone`,
};

/** Deletes up to `limit` failures from this instant or before, and returns how many. */
export async function deleteOldFailures(database: Database, until: Date, limit: number): Promise<number> {
  const rows = await database.query<{ count: number }>(DELETE_OLD, [until, limit]);
  return rows[0]?.count ?? 0;
}

const DELETE_UNUSED: Statement = {
  text: `
    with gone as (
      delete from known_clients
      where pair_hash = any (array(
        select pair_hash from known_clients where last_signed_in_at <= $1 limit $2 for update skip locked
      ))
      returning 1
    )
    select count(*)::integer as count from gone`,
};

/** Deletes up to `limit` known clients that have not signed in since then, and returns how many. */
export async function deleteUnusedClients(database: Database, until: Date, limit: number): Promise<number> {
  const rows = await database.query<{ count: number }>(DELETE_UNUSED, [until, limit]);
  return rows[0]?.count ?? 0;
}
