/** Entries: whom a ref stands for in a round, and first purchases. */
import type { Queryable, Transaction } from '@laurel/postgres';
import { type EntryOnBoard, type EntryRow, toEntry } from './attempts.ts';

// Laterally and by both columns of the key: a join would know the round already, and might look through all of its entries.
const SELECT_BY_REF = {
  name: 'entries_by_ref',
  text: `
select e.id as entry_id, e.round_id, e.account_id, e.bought_at, e.best_attempt_id, e.best_score, e.best_tiebreak, e.best_score_at,
  e.best_player_ref, e.place
from entry_refs r
cross join lateral (select * from entries own where own.round_id = r.round_id and own.account_id = r.account_id limit 1) e
where r.round_id = $1 and r.player_ref = $2`,
};

// The boards are locked before an entry is written, as everywhere; two purchases of one entry thereby wait for each other, and the
// second finds it bought. A further purchase of an entry that is bought locks nothing.
const BOOK_PURCHASES = {
  name: 'entries_book_purchases',
  text: `
with first as materialized (
  select distinct e.id, e.round_id
  from attempts a
  cross join lateral (select * from entries own where own.id = a.entry_id and own.bought_at is null limit 1) e
  where a.id = any($1::uuid[])
), boards as materialized (
  select board.round_id
  from unnest(array(select distinct first.round_id from first order by 1)) as wanted (id)
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

/** The entry of the account that the ref played for last in this round; bought or not. */
export async function findEntryOfRef(on: Queryable, roundId: string, playerRef: string): Promise<EntryOnBoard | null> {
  const [row] = await on.query<EntryRow>(SELECT_BY_REF, [roundId, playerRef]);
  return row === undefined ? null : toEntry(row);
}

/**
 * The fees of these attempts are posted and they are open: where it is the first of its entry, the account has entered. Runs in the
 * transaction that opens them, together with its commit.
 */
export async function bookPurchases(tx: Transaction, attemptIds: readonly string[], now: Date): Promise<void> {
  await tx.commitWith((last) => last.query(BOOK_PURCHASES, [attemptIds, now]));
}
