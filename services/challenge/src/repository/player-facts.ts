/**
 * Reads an account's history with a challenge, the facts of player-availability.ts, under the
 * player's lock.
 */

import type { BoundStatement, Queryable } from '@laurel/postgres';
import type { PlayerFacts } from '../domain/player-availability.ts';
import { isClaimedSql, isRungUnlockedSql, paidInWindowSql, windowStart } from './creation-rules.ts';

/** A creation whose player's facts are looked up. */
export type PlayerQuery = {
  readonly attemptId: string;
  readonly challengeId: string;
  readonly accountId: string | null;
};

export type CreationFacts = PlayerFacts & { readonly isKnownAttempt: boolean };

type FactsRow = { is_known_attempt: boolean; claimed: boolean; parent_claimed: boolean; paid_in_window: number };

// One lock per (challenge, account), held to the end of the transaction. Every batch takes its
// locks in the same order, so two batches never deadlock. This is the first statement of a
// transaction, so later statements see what the previous holder of the lock committed. A hash
// collision only makes two players wait for each other needlessly.
const LOCK_PLAYERS = {
  name: 'players_lock',
  text: `
select pg_advisory_xact_lock(sorted.key)
from (select distinct hashtextextended(k.key, 0) as key from unnest($1::text[]) as k (key) order by 1) sorted`,
};

// The same locks, and the lock on the slots of each challenge whose bar is unconfirmed
// (ramp-slots.ts). The slots of a calibrating challenge are locked too, because the challenge may
// go live with an unconfirmed bar before it is read.
const LOCK_PLAYERS_AND_SLOTS = {
  name: 'players_and_slots_lock',
  text: `
select pg_advisory_xact_lock(sorted.key)
from (
  select hashtextextended(k.key, 0) as key from unnest($1::text[]) as k (key)
  union
  select hashtextextended('slots:' || c.id, 0) from challenges c
  where c.id = any($2::uuid[]) and c.prize_structure = 'threshold' and c.ramp_completed_at is null
    and (c.threshold is null or c.ramped_from is not null)
  order by 1
) sorted`,
};

const CREATION = { challengeId: 'i.challenge_id', accountId: 'i.account_id' };

const SELECT_FACTS = {
  name: 'player_facts',
  text: `
select
  (select known.id from attempts known where known.id = i.attempt_id) is not null as is_known_attempt,
  ${isClaimedSql(CREATION)} as claimed,
  coalesce(
    (select ${isRungUnlockedSql({ parentChallengeId: 'c.parent_challenge_id', accountId: 'i.account_id' })}
     from challenges c where c.id = i.challenge_id), true) as parent_claimed,
  ${paidInWindowSql({ ...CREATION, since: '$4' })} as paid_in_window
from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as i (attempt_id, challenge_id, account_id, position)
order by i.position`,
};

const LISTED = { challengeId: 'c.id', accountId: '$2' };

const SELECT_FACTS_OF_ACCOUNT = {
  name: 'player_facts_of_account',
  text: `
select c.id as challenge_id,
  ${isClaimedSql(LISTED)} as claimed,
  ${isRungUnlockedSql({ parentChallengeId: 'c.parent_challenge_id', accountId: '$2' })} as parent_claimed,
  ${paidInWindowSql({ ...LISTED, since: '$3' })} as paid_in_window
from challenges c
where c.id = any($1::uuid[])`,
};

type Player = { readonly challengeId: string; readonly accountId: string | null };

/**
 * Locks the players of a batch until the transaction ends. A player without an account needs no
 * lock, because it has no history that another process could change.
 */
export async function lockPlayers(on: Queryable, players: readonly Player[]): Promise<void> {
  const withAccount = players.filter((player) => player.accountId !== null);
  if (withAccount.length === 0) return;
  const { statement, values } = lockOfPlayers(withAccount);
  await on.query(statement, values);
}

/** Locks players like `lockPlayers`, and the slots of their challenges. */
export async function lockPlayersAndSlots(on: Queryable, players: readonly Player[]): Promise<void> {
  const keys = players.filter((player) => player.accountId !== null).map(keyOf);
  await on.query(LOCK_PLAYERS_AND_SLOTS, [keys, players.map((player) => player.challengeId)]);
}

/**
 * Returns the statement that locks these players, who all have accounts, and the slots of these
 * challenges.
 */
export function lockOfPlayers(players: readonly Player[], withSlots: Iterable<string> = []): BoundStatement {
  return { statement: LOCK_PLAYERS, values: [[...players.map(keyOf), ...[...withSlots].map((id) => `slots:${id}`)]] };
}

function keyOf({ challengeId, accountId }: Player): string {
  return `${challengeId}:${accountId}`;
}

/** Returns one result per query, in order. */
export async function loadPlayerFacts(
  on: Queryable,
  queries: readonly PlayerQuery[],
  now: Date,
): Promise<readonly CreationFacts[]> {
  const rows = await on.query<FactsRow>(SELECT_FACTS, [
    queries.map((query) => query.attemptId),
    queries.map((query) => query.challengeId),
    queries.map((query) => query.accountId),
    windowStart(now),
  ]);
  return rows.map((row) => ({ ...toFacts(row), isKnownAttempt: row.is_known_attempt }));
}

/** Returns one account's history with each of these challenges. */
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
  ]);
  return new Map(rows.map((row) => [row.challenge_id, toFacts(row)]));
}

function toFacts(row: Omit<FactsRow, 'is_known_attempt'>): PlayerFacts {
  return { claimed: row.claimed, parentClaimed: row.parent_claimed, paidInWindow: row.paid_in_window };
}
