/**
 * Attempts that were decided on a remembered challenge, as if nothing stood in the player's way. They are written in one round trip, and
 * only if that is so: under the lock of (challenge, account), in a snapshot taken after it, as every other creation is decided.
 */
import { CAP_COUNTED } from '@laurel/attempt';
import { isBehindFence } from '@laurel/money-path';
import type { BatchOptions, Database } from '@laurel/postgres';
import type { Attempt } from '../domain/challenge.ts';
import { lockOfPlayers, windowStart } from './player-facts.ts';

/** A paid attempt that is to begin, and the version of its challenge's row that it was decided on. */
type ForeseenAttempt = { readonly attempt: Attempt; readonly challengeVersion: string };

// What may have changed since it was remembered, and where the answer is:
// - status and bar of the challenge, and whatever else its row may say one day: every change writes a new version of the row, whose
//   xmin is the id of the transaction that wrote it. Locking or freezing a row leaves xmin as it is, and at worst a mismatch sends the
//   creation the long way round. Two versions of one row have the same xmin only if they were written by one transaction, of which
//   others see the last alone, or by two that are exactly 2^32 transactions apart: days of full load between remembering a challenge
//   and its next change, and then one chance in four billion.
// - claim, parent's claim and cap: looked up here, in the order of availability.ts.
// - the attempt id: one that is there already is left as it is.
// - the fence of the sweep: a batch that waited too long is decided again.
// Scalar subqueries and no joins: whatever the planner believes of the table sizes, each is an index look-up for each item.
const INSERT = {
  name: 'attempts_insert_foreseen',
  text: `
insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at)
select i.id, i.challenge_id, i.account_id, i.player_ref, 'pending', i.fee_cents, i.prize_cents, i.threshold, i.metadata, $10
from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[], $7::float8[], $8::text[], $9::xid[])
  as i (id, challenge_id, account_id, player_ref, fee_cents, prize_cents, threshold, metadata, challenge_version)
where ${isBehindFence('$10')} and (
  select
    (select own.id from awards own where own.challenge_id = c.id and own.account_id = i.account_id) is null
    and (c.parent_challenge_id is null
      or (select below.id from awards below
          where below.challenge_id = c.parent_challenge_id and below.account_id = i.account_id) is not null)
    and (select count(*) from attempts paid
         where paid.challenge_id = c.id and paid.account_id = i.account_id and paid.created_at > $11
           and paid.fee_cents > 0 and paid.status = any($12::text[])) < c.daily_attempt_cap
  from challenges c where c.id = i.challenge_id and c.xmin = i.challenge_version)
on conflict (id) do nothing
returning id`,
};

/**
 * The ids of those that were written. At most one of each (challenge, account) and of each id: the count does not see what the same
 * statement inserts.
 */
export async function insertForeseenAttempts(
  database: Database,
  foreseen: readonly ForeseenAttempt[],
  { now, ...options }: Pick<BatchOptions, 'beforeCommit'> & { readonly now: Date },
): Promise<ReadonlySet<string>> {
  const attempts = foreseen.map(({ attempt }) => attempt);
  const values = [
    attempts.map((attempt) => attempt.id),
    attempts.map((attempt) => attempt.challengeId),
    attempts.map((attempt) => attempt.accountId),
    attempts.map((attempt) => attempt.playerRef),
    attempts.map((attempt) => attempt.feeCents),
    attempts.map((attempt) => attempt.prizeCents),
    attempts.map((attempt) => attempt.threshold),
    attempts.map((attempt) => attempt.metadata),
    foreseen.map(({ challengeVersion }) => challengeVersion),
    now,
    windowStart(now),
    CAP_COUNTED,
  ];
  const [, rows] = await database.batch<[unknown, { id: string }]>(
    [lockOfPlayers(attempts), { statement: INSERT, values }],
    options,
  );
  return new Set(rows.map((row) => row.id));
}
