/**
 * The board of a round: its entries in the order of their sort keys, and above them chunks that
 * count their entries. A rank is then a sum over one row per few hundred entries, and a count
 * within one chunk.
 *
 * Every writer holds the round's lock (attempts.ts), so no other transaction changes the board
 * while a statement reads and writes it. Every reader's snapshot is exact, because chunks, tally
 * and sort keys change in one commit.
 *
 * A chunk that grows beyond CHUNK_ENTRIES is split into halves in the same statement. Empty chunks
 * stay; there is at most one for each CHUNK_ENTRIES / 2 runs that were ever the best of their
 * entries.
 */

import type { Queryable } from '@laurel/postgres';
import { cents } from '@laurel/values/money';
import type { AwardStatus, BestRun, RoundStatus, Standing, Tally } from '../domain/tournament.ts';
import { type EntryRow, toBestRun } from './attempts.ts';
import { makesEntrantSql } from './entrants.ts';

/**
 * A run that replaces the best one of its entry. A batch has at most one such run per entry: the
 * last.
 */
export type BestRunChange = {
  readonly roundId: string;
  readonly entryId: string;
  readonly best: BestRun;
  /** The entry's sort key before the batch; null if it had no run. */
  readonly oldSortKey: Buffer | null;
  readonly newSortKey: Buffer;
};

export type ScoresOfBatch = {
  /** The round of each attempt that the batch settles; a round appears once per attempt. */
  readonly scoredIn: readonly string[];
  readonly changes: readonly BestRunChange[];
};

/**
 * A player's row with the rows above and below it, and the state of the round, from one snapshot.
 */
export type StandingWithNeighbours = {
  readonly roundStatus: RoundStatus;
  readonly tally: Tally;
  readonly ownRank: number;
  readonly above: Standing | null;
  readonly own: Standing;
  readonly below: Standing | null;
};

/** A row of the complete table with its rank, and the cursor of the page after it. */
export type RankedStanding = { readonly rank: number; readonly standing: Standing; readonly cursor: BoardCursor };

/** The row after which a page begins. */
export type BoardCursor = { readonly sortKey: Buffer; readonly rank: number };

/**
 * A million entries make 2,000 chunks. Reading those and counting 1,024 entries both take
 * negligible time.
 */
export const CHUNK_ENTRIES = 1_024;

/** This key is above every sort key, because it is one byte longer. */
const AFTER_ALL_SORT_KEYS = Buffer.alloc(40, 0xff);
const BEFORE_ALL_SORT_KEYS = Buffer.alloc(0);

// One statement writes a whole batch.
// The rows to update are also passed as an array, although the join implies them: PostgreSQL plans
// the statement once, on tables that may still be small, and the plan must never scan a whole
// table.
// `touched` has the entry counts of the changed chunks after the batch. A chunk with too many
// entries is overfull. Its members are its present entries, without those that leave, and with
// those that arrive.
// The members are divided in their order into pieces of half a chunk or more. Each piece but the
// first becomes a chunk that begins at its first sort key. Usually no chunk is overfull, and
// everything after `touched` is empty.
const WRITE = {
  name: 'board_write',
  text: `
with change as materialized (
  select * from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[], $5::uuid[], $6::float8[], $7::float8[], $8::timestamptz[],
    $9::text[]) as c (round_id, entry_id, old_sort_key, new_sort_key, attempt_id, score, tiebreak, at, player_ref)
), moved as (
  update entries e set sort_key = c.new_sort_key, best_attempt_id = c.attempt_id, best_score = c.score, best_tiebreak = c.tiebreak,
    best_score_at = c.at, best_player_ref = c.player_ref
  from change c where e.id = c.entry_id and e.id = any($2::uuid[])
), tallied as (
  update round_tallies t
  set scored_attempts = t.scored_attempts + d.scored_attempts, scored_players = t.scored_players + d.scored_players
  from unnest($10::uuid[], $11::int[], $12::int[]) as d (round_id, scored_attempts, scored_players)
  where t.round_id = d.round_id and t.round_id = any($10::uuid[])
), touched as materialized (
  select step.round_id, home.lower_sort_key, home.entries + sum(step.by)::int as entries
  from (
    select c.round_id, c.old_sort_key as sort_key, -1 as by from change c where c.old_sort_key is not null
    union all
    select c.round_id, c.new_sort_key, 1 from change c
  ) step
  cross join lateral (
    select b.lower_sort_key, b.entries from board_chunks b
    where b.round_id = step.round_id and b.lower_sort_key <= step.sort_key
    order by b.lower_sort_key desc limit 1
  ) home
  group by step.round_id, home.lower_sort_key, home.entries
), overfull as materialized (
  select t.*, coalesce(
    (select b.lower_sort_key from board_chunks b
     where b.round_id = t.round_id and b.lower_sort_key > t.lower_sort_key order by b.lower_sort_key limit 1), $14::bytea) as upper_sort_key
  from touched t where t.entries > $13::int
), member as (
  select o.round_id, o.lower_sort_key, o.entries, e.sort_key
  from overfull o cross join lateral (
    select e.sort_key from entries e
    where e.round_id = o.round_id and e.sort_key >= o.lower_sort_key and e.sort_key < o.upper_sort_key
  ) e
  where not exists (select from change c where c.round_id = o.round_id and c.old_sort_key = e.sort_key)
  union all
  select o.round_id, o.lower_sort_key, o.entries, c.new_sort_key
  from overfull o join change c on c.round_id = o.round_id and c.new_sort_key >= o.lower_sort_key and c.new_sort_key < o.upper_sort_key
), divided as (
  select m.*, ntile(greatest(2, 2 * m.entries / $13::int)) over (partition by m.round_id, m.lower_sort_key order by m.sort_key) as piece
  from member m
), piece as materialized (
  select d.round_id, case d.piece when 1 then d.lower_sort_key else min(d.sort_key) end as lower_sort_key, d.piece, count(*)::int as entries
  from divided d group by d.round_id, d.lower_sort_key, d.piece
), counted as (
  update board_chunks b set entries = n.entries
  from (
    select t.round_id, t.lower_sort_key, t.entries from touched t where t.entries <= $13::int
    union all
    select p.round_id, p.lower_sort_key, p.entries from piece p where p.piece = 1
  ) n
  where b.round_id = n.round_id and b.lower_sort_key = n.lower_sort_key
    and b.round_id = any($10::uuid[]) and b.lower_sort_key = any(array(select t.lower_sort_key from touched t))
)
insert into board_chunks (round_id, lower_sort_key, entries)
select p.round_id, p.lower_sort_key, p.entries from piece p where p.piece > 1`,
};

const STANDING = `
e.id as entry_id, e.round_id, e.account_id, e.bought_at, e.best_attempt_id, e.best_score, e.best_tiebreak, e.best_score_at,
e.best_player_ref, e.sort_key, e.final_rank, e.payout_cents,
(select p.status from round_payouts p where p.entry_id = e.id) as award_status,
-- An attempt that was open when its round was cancelled was bought like the others and is refunded with them.
(select count(*)::int from all_attempts a where a.round_id = e.round_id and a.account_id = e.account_id
  and (${makesEntrantSql('a')} or a.closed_reason = 'round_cancelled')) as paid_attempts`;

// This statement finds the entry by its id before it compares the round. A planner without
// statistics would otherwise search by the round, which a million entries may share, and use the id
// as a filter.
const SELECT_WINDOW = {
  name: 'board_window',
  text: `
with own as materialized (
  select e.id, e.round_id, e.sort_key,
    (select coalesce(sum(b.entries), 0) from board_chunks b where b.round_id = e.round_id and b.lower_sort_key < home.lower_sort_key)
      + (select count(*) from entries i where i.round_id = e.round_id and i.sort_key >= home.lower_sort_key and i.sort_key < e.sort_key)
      + 1 as rank
  from (select * from entries where id = $2 offset 0) e
  cross join lateral (
    select b.lower_sort_key from board_chunks b
    where b.round_id = e.round_id and b.lower_sort_key <= e.sort_key
    order by b.lower_sort_key desc limit 1
  ) home
  where e.round_id = $1
), seen as (
  select own.id, 0 as step from own
  union all
  select above.id, -1 from own cross join lateral (
    select e.id from entries e where e.round_id = own.round_id and e.sort_key < own.sort_key order by e.sort_key desc limit 1) above
  union all
  select below.id, 1 from own cross join lateral (
    select e.id from entries e where e.round_id = own.round_id and e.sort_key > own.sort_key order by e.sort_key limit 1) below
)
select seen.step, own.rank::int as own_rank, r.status as round_status, t.entrants, t.scored_players, t.scored_attempts, ${STANDING}
from own
cross join seen
cross join lateral (select * from entries one where one.id = seen.id limit 1) e
join rounds r on r.id = own.round_id
join round_tallies t on t.round_id = own.round_id`,
};

// Finds the chunk that contains the rank, and then the sort key at that rank in the chunk.
const SELECT_AT_RANK = {
  text: `
select e.sort_key
from (
  select b.lower_sort_key, sum(b.entries) over (order by b.lower_sort_key) as through, b.entries
  from board_chunks b where b.round_id = $1
) c
cross join lateral (
  select e.sort_key from entries e where e.round_id = $1 and e.sort_key >= c.lower_sort_key
  order by e.sort_key offset $2::int - 1 - (c.through - c.entries) limit 1
) e
where c.through >= $2 and c.through - c.entries < $2`,
};

const SELECT_PAGE = {
  name: 'board_page',
  text: `
select ${STANDING}
from (select * from entries p where p.round_id = $1 and p.sort_key > $2 order by p.sort_key limit $3) e
order by e.sort_key`,
};

type StandingRow = EntryRow & {
  final_rank: number | null;
  payout_cents: bigint | null;
  award_status: AwardStatus | null;
  paid_attempts: number;
};

type WindowRow = StandingRow & {
  step: number;
  own_rank: number;
  round_status: RoundStatus;
  entrants: number;
  scored_players: number;
  scored_attempts: number;
};

/**
 * Writes the boards of a batch. The caller holds the locks of lockOnBoards, and sends this together
 * with the commit. Sends no statement if there is nothing to write.
 */
export async function writeBoards(
  last: Queryable,
  { scoredIn, changes }: ScoresOfBatch,
  { chunkEntries = CHUNK_ENTRIES }: { readonly chunkEntries?: number } = {},
): Promise<void> {
  if (scoredIn.length === 0) return;
  const newcomers = changes.filter(({ oldSortKey }) => oldSortKey === null);
  const rounds = [...new Set(scoredIn)].sort();
  await last.query(WRITE, [
    changes.map((change) => change.roundId),
    changes.map((change) => change.entryId),
    changes.map((change) => change.oldSortKey),
    changes.map((change) => change.newSortKey),
    changes.map(({ best }) => best.attemptId),
    changes.map(({ best }) => best.score),
    changes.map(({ best }) => best.tiebreak),
    changes.map(({ best }) => best.at),
    changes.map(({ best }) => best.playerRef),
    rounds,
    rounds.map((id) => scoredIn.filter((roundId) => roundId === id).length),
    rounds.map((id) => newcomers.filter(({ roundId }) => roundId === id).length),
    chunkEntries,
    AFTER_ALL_SORT_KEYS,
  ]);
}

/** Returns a player's row with its neighbours; null for an entry without a run. */
export async function loadWindow(
  on: Queryable,
  roundId: string,
  entryId: string,
): Promise<StandingWithNeighbours | null> {
  const rows = await on.query<WindowRow>(SELECT_WINDOW, [roundId, entryId]);
  const at = (step: number) => rows.find((row) => row.step === step);
  const [above, own, below] = [at(-1), at(0), at(1)];
  if (own === undefined) return null;
  return {
    roundStatus: own.round_status,
    tally: { entrants: own.entrants, scoredPlayers: own.scored_players, scoredAttempts: own.scored_attempts },
    ownRank: own.own_rank,
    above: above === undefined ? null : toStanding(above),
    own: toStanding(own),
    below: below === undefined ? null : toStanding(below),
  };
}

/**
 * The place of a rank, from 1; null beyond the last row. While the round runs, the caller reads the
 * rows from the same snapshot.
 */
export async function findCursorAtRank(on: Queryable, roundId: string, rank: number): Promise<BoardCursor | null> {
  const [row] = await on.query<{ sort_key: Buffer }>(SELECT_AT_RANK, [roundId, rank]);
  return row === undefined ? null : { sortKey: row.sort_key, rank };
}

/** The complete table in its order, page by page. A page shorter than the limit is the last. */
export async function loadStandings(
  on: Queryable,
  roundId: string,
  after: BoardCursor | null,
  limit: number,
): Promise<readonly RankedStanding[]> {
  const rows = await on.query<StandingRow>(SELECT_PAGE, [roundId, after?.sortKey ?? BEFORE_ALL_SORT_KEYS, limit]);
  return rows.map((row, index) => {
    const rank = (after?.rank ?? 0) + index + 1;
    return { rank, standing: toStanding(row), cursor: { sortKey: sortKeyOf(row), rank } };
  });
}

function toStanding(row: StandingRow): Standing {
  const best = toBestRun(row);
  if (best === null) throw new Error(`entry ${row.entry_id} is on the board without a run`);
  return {
    entryId: row.entry_id,
    accountId: row.account_id,
    best,
    paidAttempts: row.paid_attempts,
    finalRank: row.final_rank,
    payoutCents: row.payout_cents === null ? null : cents(row.payout_cents),
    awardStatus: row.award_status,
  };
}

function sortKeyOf({ entry_id: id, sort_key: sortKey }: StandingRow): Buffer {
  if (sortKey === null) throw new Error(`entry ${id} is on the board without a sort key`);
  return sortKey;
}
