/**
 * How the continuous audit reads this database in slices (libs/postgres/src/sliced-audit.ts): the
 * tables in the order of a pass, and the rows of a slice as a rule reads them.
 */
import { attemptWalks } from '@laurel/attempts';
import { distinctSql, inSnapshotSql, pageSql, type Rows, rowsOf, type Walk, weighedPageSql } from '@laurel/postgres';

export const AWARDS = rowsOf('awards', 'awards', 'id');

/** The challenges that have samples. Their rules read all samples of a challenge. */
export const SAMPLED_CHALLENGES: Rows = rowsOf('samples', 'challenges', 'id');

/** The sums that a pass adds up, by their name in `audit_sums`. Keys are challenges. */
export const SUM = {
  /** What the drift monitor had counted or was yet to count when the pass began. */
  counted: 'counted',
  countedPasses: 'counted_passes',
  /** When it had started, in ms since 1970. */
  startedMs: 'started_ms',
  /** The outcomes of paid attempts that the pass's snapshot has. */
  settled: 'settled',
  /** Those that met the bar. */
  cleared: 'cleared',
  /** Those from before the monitor started. */
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

const sumsOfOutcomes = `
  select part.name, a.challenge_id::text as key, part.cents
  from slice
  join outcomes o on o.attempt_id = slice.key
  join attempts a on a.id = o.attempt_id
  cross join pass
  left join audit_sums started on started.name = '${SUM.startedMs}' and started.key = a.challenge_id::text
  cross join lateral (
    values ('${SUM.settled}', 1), ('${SUM.cleared}', o.met_threshold::int),
      ('${SUM.early}', (extract(epoch from o.recorded_at) * 1000 < coalesce(started.cents, 0))::int)
  ) as part (name, cents)
  where a.threshold is not null and ${inSnapshotSql('o', 'o.recorded_at')}`;

/** Samples of a slice of several challenges. */
const MOST_SAMPLES = 100_000;

/** In the order of a pass. */
export const WALKS: readonly Walk[] = [
  ...attemptWalks(sumsOfOutcomes),
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
    // A slice reads all samples of its challenges: those of many small ones, or of a large one.
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
