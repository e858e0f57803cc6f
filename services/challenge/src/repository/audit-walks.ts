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

/** The batches of archived attempts whose rows were deleted from `attempts` and `outcomes`. */
export const BATCHES: Rows = sharedRows(
  'archived_batches',
  '(select least_id as key, b.* from archived_batches b where b.deleted_at is not null)',
  'select slice.key, b.* from slice join archived_batches b on b.least_id = slice.key where b.deleted_at is not null',
);

export const AWARDS = rowsOf('awards', 'awards', 'id');

/** The challenges that have samples. A rule over them reads all samples of a challenge. */
export const SAMPLED_CHALLENGES: Rows = rowsOf('samples', 'challenges', 'id');

/**
 * The sums that a pass adds up besides those of archived attempts, by their name in `audit_sums`.
 * The key of a sum is a challenge.
 */
export const SUM = {
  /** How many outcomes the drift monitor had counted or was yet to count when the pass began. */
  counted: 'counted',
  countedPasses: 'counted_passes',
  /** When the drift monitor had started, in ms since 1970. */
  startedMs: 'started_ms',
  /** The outcomes of paid attempts in the snapshot of the pass. */
  settled: 'settled',
  /** The outcomes that met the bar. */
  cleared: 'cleared',
  /** The outcomes that were recorded before the monitor started. */
  early: 'early',
} as const;

/** The sums with which a pass begins. */
export const START_SUMS = `
  select part.name, m.challenge_id::text as key, part.cents
  from drift_monitors m
  left join (
    select p.challenge_id, count(*) as attempts, count(*) filter (where p.passed) as passes
    from unmonitored_outcomes u cross join unnest(u.challenge_ids, u.passed) as p (challenge_id, passed)
    group by p.challenge_id
  ) w on w.challenge_id = m.challenge_id
  cross join lateral (
    values ('${SUM.counted}', m.attempts + coalesce(w.attempts, 0)), ('${SUM.countedPasses}', m.passes + coalesce(w.passes, 0)),
      ('${SUM.startedMs}', extract(epoch from m.started_at) * 1000)
  ) as part (name, cents)`;

/** SQL that joins the challenge and the archived month of an archived attempt `a`. */
export const OF_MONTHS = `
  join challenges c on c.id = a.challenge_id
  join archived_months m on a.id >= m.least_id and a.id < m.end_id`;

// An archived outcome is days old, so if it was recorded before the pass began, the snapshot
// contains it.
const sumsOfOutcomes = `
  select part.name, paid.challenge_id::text as key, part.cents
  from (
    select a.challenge_id, o.met_threshold, o.recorded_at
    from slice join outcomes o on o.attempt_id = slice.key join attempts a on a.id = o.attempt_id cross join pass
    where a.threshold is not null and ${inSnapshotSql('o', 'o.recorded_at')}
    union all
    select a.challenge_id, a.met_threshold, a.recorded_at
    from slice join archived_attempts a on a.id = slice.key cross join pass
    where a.threshold is not null and a.recorded_at < pass.started_at
  ) paid
  left join audit_sums started on started.name = '${SUM.startedMs}' and started.key = paid.challenge_id::text
  cross join lateral (
    values ('${SUM.settled}', 1), ('${SUM.cleared}', paid.met_threshold::int),
      ('${SUM.early}', (extract(epoch from paid.recorded_at) * 1000 < coalesce(started.cents, 0))::int)
  ) as part (name, cents)`;

/** The most samples of a slice with several challenges. */
const MOST_SAMPLES = 100_000;

/** The walks, in the order of a pass. */
export const WALKS: readonly Walk[] = [
  ...attemptWalks({ ofAttempts: sumsOfArchivedSql(OF_MONTHS), ofOutcomes: sumsOfOutcomes }),
  {
    name: BATCHES.walk,
    shared: BATCHES.shared,
    // Few batches, because a slice counts their attempts, some thousand per batch.
    pageSize: 5,
    page: pageSql('archived_batches', 'least_id'),
  },
  {
    name: AWARDS.walk,
    shared: AWARDS.shared,
    pageSize: 2_000,
    page: pageSql('awards', 'id'),
    tail: { table: 'awards', key: 'id' },
  },
  {
    name: SAMPLED_CHALLENGES.walk,
    shared: SAMPLED_CHALLENGES.shared,
    // A slice reads all samples of many small challenges, or of one large challenge.
    pageSize: 200,
    page: weighedPageSql(
      `
        (${distinctSql('bar_samples', 'challenge_id')})
        union (${distinctSql('calibration_players', 'challenge_id')})
        union (${pageSql('calibrations', 'challenge_id')})`,
      '(select coalesce(sum(collected), 0) from calibrations where challenge_id = key)',
      MOST_SAMPLES,
    ),
    isWeighed: true,
  },
];
