/**
 * How the continuous audit reads this database in slices (libs/postgres/src/sliced-audit.ts): the
 * order in which a pass reads the tables, and the rows of a slice that each audit rule reads.
 */
import { attemptWalks, sumsOfArchivedSql } from '@laurel/attempts';
import {
  distinctSql,
  inSnapshotSql,
  pageSql,
  type Rows,
  rowsOf,
  sharedRows,
  type Walk,
  weighedPageSql,
} from '@laurel/postgres';

export const ENTRIES = rowsOf('entries', 'entries', 'id');
export const ROUND_PAYOUTS = rowsOf('round_payouts', 'round_payouts', 'award_id');
export const ROUNDS = rowsOf('rounds', 'rounds', 'id');
/** Rounds, for the rules that read all entries of a round. */
export const BOARDS = rowsOf('boards', 'rounds', 'id');

/** The entries of the outcomes of a slice. */
export const ENTRIES_OF_OUTCOMES: Pick<Rows, 'inSlice'> = {
  inSlice: `(
    select slice.key, entries.* from slice
    join all_attempts a on a.id = slice.key
    join entries on entries.id = a.entry_id)`,
};

/** The batches of archived attempts whose rows were deleted from `attempts` and `outcomes`. */
export const BATCHES: Rows = sharedRows(
  'archived_batches',
  '(select id as key, b.* from archived_batches b where b.deleted_at is not null)',
  'select slice.key, b.* from slice join archived_batches b on b.id = slice.key where b.deleted_at is not null',
);

/** SQL that joins the round and the archived month of an archived attempt `a`. */
export const OF_MONTHS = `
  join rounds c on c.id = a.round_id
  join archived_months m on c.closes_at >= m.begins_at and c.closes_at < m.ends_at`;

/**
 * SQL of a record that compares like the order of the runs in their round `r`. A run without a
 * tiebreak has null there, which comes after every value.
 */
const runSql = (entry: string) => `
    row(
      case r.direction when 'higher_is_better' then -${entry}.best_score else ${entry}.best_score end,
      case r.tiebreak_direction
        when 'higher_is_better' then -${entry}.best_tiebreak when 'lower_is_better' then ${entry}.best_tiebreak
      end,
      ${entry}.best_score_at, ${entry}.id)`;

/** The scored entries with the entry before each on its board. */
export const PLACES: Rows = sharedRows(
  ENTRIES.walk,
  `(
    select e.id as key, e.id, e.final_rank, r.status, ${runSql('e')} as run,
      lag(e.id) over board as id_before, lag(e.final_rank) over board as rank_before, lag(${runSql('e')}) over board as run_before
    from entries e join rounds r on r.id = e.round_id
    where e.sort_key is not null
    window board as (partition by e.round_id order by e.sort_key))`,
  `
    select slice.key, e.id, e.final_rank, r.status, ${runSql('e')} as run,
      before.id as id_before, before.final_rank as rank_before, before.run as run_before
    from slice
    join entries e on e.id = slice.key
    join rounds r on r.id = e.round_id
    left join lateral (
      select b.id, b.final_rank, ${runSql('b')} as run from entries b
      where b.round_id = e.round_id and b.sort_key < e.sort_key
      order by b.sort_key desc limit 1
    ) before on true
    where e.sort_key is not null`,
  'walked_places',
);

/**
 * The names in `audit_sums` of the sums that a pass adds up, besides those of archived attempts.
 * The key of each sum is a round.
 */
export const SUM = {
  /** The scored attempts that a round's tally had when the pass began. */
  tallied: 'tallied',
  /** The outcomes that the pass's snapshot has. */
  scored: 'scored',
} as const;

/** The sums with which a pass begins. */
export const START_SUMS = `
  select '${SUM.tallied}' as name, r.id::text as key, t.scored_attempts as cents
  from rounds r join round_tallies t on t.round_id = r.id`;

// An archived outcome is days old, so if it was recorded before the pass began, the snapshot
// contains it.
const sumsOfOutcomes = `
  select '${SUM.scored}' as name, scored.round_id::text as key, 1 as cents
  from (
    select a.round_id
    from slice join outcomes o on o.attempt_id = slice.key join attempts a on a.id = o.attempt_id cross join pass
    where ${inSnapshotSql('o', 'o.recorded_at')}
    union all
    select a.round_id from slice join archived_attempts a on a.id = slice.key cross join pass
    where a.recorded_at < pass.started_at
  ) scored`;

/** The most entries of a slice that has several rounds. */
const MAX_SLICE_ENTRIES = 100_000;

/** The walks, in the order of a pass. */
export const WALKS: readonly Walk[] = [
  ...attemptWalks({ ofAttempts: sumsOfArchivedSql(OF_MONTHS), ofOutcomes: sumsOfOutcomes }),
  {
    name: BATCHES.walk,
    shared: BATCHES.shared,
    // Few batches, because a slice counts their attempts, some thousand per batch.
    pageSize: 5,
    page: pageSql('archived_batches', 'id'),
  },
  {
    name: ENTRIES.walk,
    shared: { ...ENTRIES.shared, ...PLACES.shared },
    pageSize: 2_000,
    page: pageSql('entries', 'id'),
    tail: { table: 'entries', key: 'id' },
  },
  {
    name: ROUND_PAYOUTS.walk,
    shared: ROUND_PAYOUTS.shared,
    pageSize: 2_000,
    page: pageSql('round_payouts', 'award_id'),
  },
  { name: ROUNDS.walk, shared: ROUNDS.shared, pageSize: 200, page: pageSql('rounds', 'id') },
  {
    name: BOARDS.walk,
    shared: BOARDS.shared,
    // A slice reads all entries of its rounds: of many small rounds, or of one large round.
    pageSize: 200,
    page: weighedPageSql(
      `
        (${pageSql('rounds', 'id')})
        union (${distinctSql('board_chunks', 'round_id')})
        union (${distinctSql('entries', 'round_id', 'sort_key is not null')})`,
      '(select coalesce(sum(entrants), 0) from round_tallies where round_id = key)',
      MAX_SLICE_ENTRIES,
    ),
    isWeighed: true,
  },
];
