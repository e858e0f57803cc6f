/** An account's history in a round, read under the locks on entering. */

import type { BoundStatement, Queryable } from '@laurel/postgres';
import { attemptsBoughtSql } from './entry-rules.ts';

/** One creation to look up. */
export type PlayerQuery = {
  readonly attemptId: string;
  readonly roundId: string;
  readonly accountId: string | null;
};

export type PlayerFacts = {
  readonly isKnownAttempt: boolean;
  /** The attempts of the account in the round that count towards its cap. */
  readonly bought: number;
};

/** A player in a round. A player without an account needs no lock. */
export type PlayerInRound = { readonly roundId: string; readonly accountId: string | null };

// The first locks of a creation. They are held until its transaction ends, so every later statement
// sees what the previous holders committed.
// First a lock on each round. All creations share it, and it excludes the end of the round
// (settlement.ts), so no attempt is written into a round that is being ended. Then a lock on each
// (round, account).
// Each kind is taken in one order, so two batches never deadlock. A hash collision only makes two
// players wait for each other needlessly.
const LOCK_ENTERING = {
  name: 'players_lock_entering',
  text: `
select from (
  with rounds_held as materialized (
    select pg_advisory_xact_lock_shared(sorted.key)
    from (select distinct hashtextextended('round:' || k.id, 0) as key from unnest($1::uuid[]) as k (id) order by 1) sorted
  )
  select pg_advisory_xact_lock(sorted.key)
  from (select distinct hashtextextended(k.key, 0) as key from unnest($2::text[]) as k (key) order by 1) sorted
  where (select count(*) from rounds_held) >= 0
) locked`,
};

const LOCK_PLAYER = { text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))' };

// The facts are scalar subqueries instead of joins: whatever table sizes the planner estimates,
// each is one index look-up per item.
const SELECT_FACTS = {
  name: 'player_facts',
  text: `
select
  (select known.id from attempts known where known.id = i.attempt_id) is not null as is_known_attempt,
  ${attemptsBoughtSql({ roundId: 'i.round_id', accountId: 'i.account_id' })} as bought
from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as i (attempt_id, round_id, account_id, position)
order by i.position`,
};

/**
 * Keeps the rounds from being ended, and the players from entering them in another transaction,
 * until this transaction ends.
 */
export async function lockEntering(on: Queryable, players: readonly PlayerInRound[]): Promise<void> {
  const { statement, values } = lockEnteringStatement(players);
  await on.query(statement, values);
}

/** The statement that takes the locks of lockEntering. */
export function lockEnteringStatement(players: readonly PlayerInRound[]): BoundStatement {
  const keys = players.filter(({ accountId }) => accountId !== null).map(keyOf);
  return { statement: LOCK_ENTERING, values: [players.map(({ roundId }) => roundId), keys] };
}

/**
 * Locks the player to whom an attempt moves. The attempt is pending and locked, which already
 * blocks the end of the round.
 */
export async function lockPlayer(on: Queryable, player: PlayerInRound): Promise<void> {
  await on.query(LOCK_PLAYER, [keyOf(player)]);
}

/** Returns one result per query, in order. */
export async function loadPlayerFacts(on: Queryable, queries: readonly PlayerQuery[]): Promise<readonly PlayerFacts[]> {
  const rows = await on.query<{ is_known_attempt: boolean; bought: number }>(SELECT_FACTS, [
    queries.map((query) => query.attemptId),
    queries.map((query) => query.roundId),
    queries.map((query) => query.accountId),
  ]);
  return rows.map((row) => ({ isKnownAttempt: row.is_known_attempt, bought: row.bought }));
}

function keyOf({ roundId, accountId }: PlayerInRound): string {
  return `${roundId}:${accountId}`;
}
