/** What an account has done with a challenge: the facts of availability.ts, read under the player's lock. */

import { CAP_COUNTED } from '@laurel/attempt';
import type { BoundStatement, Queryable } from '@laurel/postgres';
import { CAP_WINDOW_MS, type PlayerFacts } from '../domain/availability.ts';

/** One creation to look up. */
export type PlayerQuery = {
  readonly attemptId: string;
  readonly challengeId: string;
  readonly accountId: string | null;
};

export type PlayerAnswer = PlayerFacts & { readonly isKnownAttempt: boolean };

type FactsRow = { is_known_attempt: boolean; claimed: boolean; parent_claimed: boolean; paid_in_window: number };

// One lock per (challenge, account), held to the end of the transaction, all taken in one order: two batches never deadlock. It is the
// first statement, so that everything after it sees what the holder before committed. The hash may collide: two players then wait
// for each other needlessly, and nothing else.
const LOCK_PLAYERS = {
  name: 'players_lock',
  text: `
select pg_advisory_xact_lock(sorted.key)
from (select distinct hashtextextended(k.key, 0) as key from unnest($1::text[]) as k (key) order by 1) sorted`,
};

// Scalar subqueries and no joins: whatever the planner believes of the table sizes, each is an index look-up for each item.
const SELECT_FACTS = {
  name: 'player_facts',
  text: `
select
  (select known.id from attempts known where known.id = i.attempt_id) is not null as is_known_attempt,
  (select own.id from awards own where own.challenge_id = i.challenge_id and own.account_id = i.account_id) is not null as claimed,
  coalesce(
    (select c.parent_challenge_id is null
       or (select below.id from awards below
           where below.challenge_id = c.parent_challenge_id and below.account_id = i.account_id) is not null
     from challenges c where c.id = i.challenge_id), true) as parent_claimed,
  (select count(*)::int from attempts paid
   where paid.challenge_id = i.challenge_id and paid.account_id = i.account_id and paid.created_at > $4
     and paid.fee_cents > 0 and paid.status = any($5::text[])) as paid_in_window
from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as i (attempt_id, challenge_id, account_id, position)
order by i.position`,
};

const SELECT_FACTS_OF_ACCOUNT = {
  name: 'player_facts_of_account',
  text: `
select c.id as challenge_id,
  (select own.id from awards own where own.challenge_id = c.id and own.account_id = $2) is not null as claimed,
  c.parent_challenge_id is null
    or (select below.id from awards below where below.challenge_id = c.parent_challenge_id and below.account_id = $2) is not null
    as parent_claimed,
  (select count(*)::int from attempts paid
   where paid.challenge_id = c.id and paid.account_id = $2 and paid.created_at > $3
     and paid.fee_cents > 0 and paid.status = any($4::text[])) as paid_in_window
from challenges c
where c.id = any($1::uuid[])`,
};

type Player = { readonly challengeId: string; readonly accountId: string | null };

/** Players without an account have nothing to race for. */
export async function lockPlayers(on: Queryable, players: readonly Player[]): Promise<void> {
  const withAccount = players.filter((player) => player.accountId !== null);
  if (withAccount.length === 0) return;
  const { statement, values } = lockOfPlayers(withAccount);
  await on.query(statement, values);
}

/** The statement that locks these players, each of whom has an account. */
export function lockOfPlayers(players: readonly Player[]): BoundStatement {
  return { statement: LOCK_PLAYERS, values: [players.map((player) => `${player.challengeId}:${player.accountId}`)] };
}

/** One answer for each query, in order. */
export async function loadPlayerFacts(
  on: Queryable,
  queries: readonly PlayerQuery[],
  now: Date,
): Promise<readonly PlayerAnswer[]> {
  const rows = await on.query<FactsRow>(SELECT_FACTS, [
    queries.map((query) => query.attemptId),
    queries.map((query) => query.challengeId),
    queries.map((query) => query.accountId),
    windowStart(now),
    CAP_COUNTED,
  ]);
  return rows.map((row) => ({ ...toFacts(row), isKnownAttempt: row.is_known_attempt }));
}

/** What one account has done with each of these challenges. */
export async function loadFactsOfAccount(
  on: Queryable,
  challengeIds: readonly string[],
  accountId: string,
  now: Date,
): Promise<ReadonlyMap<string, PlayerFacts>> {
  const rows = await on.query<Omit<FactsRow, 'is_known_attempt'> & { challenge_id: string }>(SELECT_FACTS_OF_ACCOUNT, [
    challengeIds,
    accountId,
    windowStart(now),
    CAP_COUNTED,
  ]);
  return new Map(rows.map((row) => [row.challenge_id, toFacts(row)]));
}

/** What is newer than this counts for the cap. */
export function windowStart(now: Date): Date {
  return new Date(now.getTime() - CAP_WINDOW_MS);
}

function toFacts(row: Omit<FactsRow, 'is_known_attempt'>): PlayerFacts {
  return { claimed: row.claimed, parentClaimed: row.parent_claimed, paidInWindow: row.paid_in_window };
}
