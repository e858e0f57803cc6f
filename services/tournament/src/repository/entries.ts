/**
 * Entries: the account of a ref in a round, and the entrants of the round (domain/entrants.ts). An
 * account becomes an entrant with the commit that opens its first attempt there. It stops with the
 * commit that ends its last one, or with the end of the round (settlement.ts).
 *
 * A transaction that opens an attempt of an entrant locks only the attempt. So a transaction that
 * removes an entrant locks the player, which keeps new attempts from being written, and all
 * attempts of the account that are still `pending`. It waits for an attempt that is being opened,
 * and sees it. An attempt that opens later waits, and then finds that the account is not an
 * entrant.
 */
import type { BoundStatement, Queryable, Transaction } from '@laurel/postgres';
import { ENTRANT_STATUSES } from '../domain/entrants.ts';
import { type EntryOnBoard, type EntryRow, toEntry } from './attempts.ts';
import { makesEntrantSql } from './entrants.ts';

// The join is lateral, by both columns of the key. A plain join would start from the round, and
// might scan all of its entries.
const SELECT_BY_REF = {
  name: 'entries_by_ref',
  text: `
select e.id as entry_id, e.round_id, e.account_id, e.bought_at, e.best_attempt_id, e.best_score, e.best_tiebreak, e.best_score_at,
  e.best_player_ref, e.sort_key
from entry_refs r
cross join lateral (select * from entries own where own.round_id = r.round_id and own.account_id = r.account_id limit 1) e
where r.round_id = $1 and r.player_ref = $2`,
};

const SELECT_BY_ACCOUNT = {
  name: 'entries_by_account',
  text: `
select e.id as entry_id, e.round_id, e.account_id, e.bought_at, e.best_attempt_id, e.best_score, e.best_tiebreak, e.best_score_at,
  e.best_player_ref, e.sort_key
from entries e where e.round_id = $1 and e.account_id = $2`,
};

// Makes the accounts of attempts entrants, and counts the accounts that were no entrants before. An
// attempt that did not open makes no entrant.
// An account has one entry in a round (entries_one_per_round_and_account), whose `bought_at` is set
// while the account is an entrant. Only an entry whose `bought_at` changes from null is counted, so
// a repeat changes nothing.
// The boards are locked before an entry is written, as everywhere. This also serializes two first
// purchases of one entry: the second finds the entry bought. A later purchase of a bought entry
// locks nothing.
const ADD_ENTRANTS = {
  name: 'entries_add_entrants',
  text: `
with first as materialized (
  select distinct e.id, e.round_id
  from attempts a
  cross join lateral (select * from entries own where own.id = a.entry_id and own.bought_at is null limit 1) e
  where a.id = any($1::uuid[]) and ${makesEntrantSql('a')}
), boards as materialized (
  select board.round_id
  from (select distinct first.round_id as id from first order by 1) as wanted
  cross join lateral (select t.round_id from round_tallies t where t.round_id = wanted.id for no key update) board
), bought as (
  update entries e set bought_at = $2 from first
  where e.id = first.id and e.id = any(array(select first.id from first)) and e.bought_at is null
    and (select count(*) from boards) > 0
  returning e.round_id
)
update round_tallies t set entrants = t.entrants + b.entrants
from (select round_id, count(*)::int as entrants from bought group by round_id) b
where t.round_id = b.round_id and t.round_id = any(array(select boards.round_id from boards))`,
};

// Locks the player first, as a creation does (player-facts.ts).
const LOCK_PLAYERS = {
  name: 'entries_lock_players',
  text: `
with player as materialized (
  select a.id, a.account_id, hashtextextended(a.round_id::text || ':' || a.account_id::text, 0) as key
  from attempts a where a.id = any($1::uuid[])
), held as materialized (
  select pg_advisory_xact_lock(sorted.key) from (select distinct player.key from player order by 1) sorted
)
select player.id, player.account_id from player where (select count(*) from held) >= 0`,
};

const LOCK_ATTEMPTS = {
  name: 'entries_lock_attempts',
  text: `
with wanted as materialized (
  select own.id from attempts own where own.id = any($1::uuid[])
  union
  select pending.id
  from attempts own
  cross join lateral (
    select p.id from attempts p
    where p.round_id = own.round_id and p.account_id = own.account_id and p.status = 'pending' offset 0
  ) pending
  where own.id = any($1::uuid[])
), held as materialized (
  select a.id, a.account_id from attempts a where a.id = any(array(select wanted.id from wanted)) order by a.id for no key update
)
select held.id, held.account_id from held where held.id = any($1::uuid[])`,
};

const REMOVE_ENTRANTS = {
  name: 'entries_remove_entrants',
  text: `
with last as materialized (
  select distinct e.id, e.round_id
  from attempts a
  cross join lateral (select * from entries own where own.id = a.entry_id and own.bought_at is not null limit 1) e
  where a.id = any($1::uuid[]) and not exists (
    select from attempts kept
    where kept.round_id = e.round_id and kept.account_id = e.account_id and kept.status = any($2::text[])
  )
), boards as materialized (
  select board.round_id
  from (select distinct last.round_id as id from last order by 1) as wanted
  cross join lateral (select t.round_id from round_tallies t where t.round_id = wanted.id for no key update) board
), gone as (
  update entries e set bought_at = null from last
  where e.id = last.id and e.id = any(array(select last.id from last)) and e.bought_at is not null
    and (select count(*) from boards) > 0
  returning e.round_id
)
update round_tallies t set entrants = t.entrants - g.entrants
from (select round_id, count(*)::int as entrants from gone group by round_id) g
where t.round_id = g.round_id and t.round_id = any(array(select boards.round_id from boards))`,
};

/** The entry of the account that last played under the ref in this round, bought or not. */
export async function findEntryOfRef(on: Queryable, roundId: string, playerRef: string): Promise<EntryOnBoard | null> {
  const [row] = await on.query<EntryRow>(SELECT_BY_REF, [roundId, playerRef]);
  return row === undefined ? null : toEntry(row);
}

/** The entry of an account in a round; null if there is none, or no account. */
export async function findEntryOfAccount(
  on: Queryable,
  roundId: string,
  accountId: string | null,
): Promise<EntryOnBoard | null> {
  const [row] = await on.query<EntryRow>(SELECT_BY_ACCOUNT, [roundId, accountId]);
  return row === undefined ? null : toEntry(row);
}

/**
 * Returns the statement that makes the accounts of opened attempts entrants. It runs after the
 * statement that opens the attempts, in the same transaction. A repeat, or an attempt that could
 * not be opened, changes nothing.
 */
export function addEntrantsStatement(attemptIds: readonly string[], now: Date): BoundStatement {
  return { statement: ADD_ENTRANTS, values: [attemptIds, now] };
}

/**
 * Locks the players of open attempts that are about to end, and every attempt that decides which
 * accounts are still entrants afterwards.
 */
export async function lockEntrants(tx: Transaction, attemptIds: readonly string[]): Promise<void> {
  type Row = { id: string; account_id: string };
  // The statements are sent together and run in this order.
  const [players, attempts] = await Promise.all([
    tx.query<Row>(LOCK_PLAYERS, [attemptIds]),
    tx.query<Row>(LOCK_ATTEMPTS, [attemptIds]),
  ]);
  const locked = new Map(players.map((row) => [row.id, row.account_id]));
  // A pending attempt may have moved to another account in between; then the caller retries.
  const moved = attempts.find((row) => locked.get(row.id) !== row.account_id);
  if (moved !== undefined)
    throw new Error(`attempt ${moved.id} went to another account while its player was being locked`);
}

/**
 * Removes from the round the accounts that have no other attempt there. The given attempts have
 * ended under the locks of lockEntrants.
 */
export async function removeEntrants(tx: Transaction, attemptIds: readonly string[]): Promise<void> {
  if (attemptIds.length > 0) await tx.query(REMOVE_ENTRANTS, [attemptIds, ENTRANT_STATUSES]);
}
