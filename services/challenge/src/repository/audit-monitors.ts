/**
 * The invariants of drift monitors and of the status history. The checks read monitors, outcomes
 * and waiting rows in one snapshot. The audit in slices uses the snapshot in which a pass began:
 * the pass notes what the monitors had counted by then, and adds up the outcomes of that snapshot
 * (audit-walks.ts).
 */
import { ARCHIVED_SUM } from '@laurel/attempts';
import type { SlicedCheck } from '@laurel/postgres';
import { SUM } from './audit-walks.ts';

/** Every settled paid attempt, archived or not. */
const PAID_OUTCOMES = `
    select a.challenge_id, o.met_threshold, o.recorded_at
    from outcomes o join attempts a on a.id = o.attempt_id where a.threshold is not null
    union all
    select a.challenge_id, a.met_threshold, a.recorded_at
    from archived_attempts a where a.threshold is not null and a.receipt_id is not null`;

/**
 * SQL for what each monitor has counted or is yet to count, and for all outcomes that it should
 * count.
 */
const COUNTED = `
  select m.challenge_id, m.started_at, m.attempts + coalesce(w.attempts, 0) as attempts, m.passes + coalesce(w.passes, 0) as passes,
    coalesce(s.attempts, 0) as settled, coalesce(s.passes, 0) as cleared, s.first_at
  from drift_monitors m
  left join (
    select p.challenge_id, count(*) as attempts, count(*) filter (where p.passed) as passes
    from unmonitored_outcomes u cross join unnest(u.challenge_ids, u.passed) as p (challenge_id, passed)
    group by p.challenge_id
  ) w on w.challenge_id = m.challenge_id
  left join (
    select paid.challenge_id, count(*) as attempts, count(*) filter (where paid.met_threshold) as passes,
      min(paid.recorded_at) as first_at
    from (${PAID_OUTCOMES}) paid
    group by paid.challenge_id
  ) s on s.challenge_id = m.challenge_id`;

/** As `COUNTED`, from the sums of a pass, for the monitors that existed when the pass began. */
const ADDED_UP = `
  select key::uuid as challenge_id, max(cents) filter (where name = '${SUM.counted}') as attempts,
    max(cents) filter (where name = '${SUM.countedPasses}') as passes,
    coalesce(max(cents) filter (where name = '${SUM.settled}'), 0) as settled,
    coalesce(max(cents) filter (where name = '${SUM.cleared}'), 0) as cleared,
    coalesce(max(cents) filter (where name = '${SUM.early}'), 0) as early
  from audit_sums where name not in ('${ARCHIVED_SUM.attempts}', '${ARCHIVED_SUM.fees}')
  group by key having bool_or(name = '${SUM.counted}')`;

const COUNTED_TWICE = 'attempts > settled or passes > cleared';
const WAS_ALWAYS_LIVE = `
        not exists (select from status_changes s where s.challenge_id = c.challenge_id and s.to_status in ('suspended', 'closed'))`;

export const MONITOR_CHECKS: readonly SlicedCheck[] = [
  {
    id: 'monitor_counts_no_outcome_twice',
    description: 'No drift monitor has counted more attempts, or more that cleared the bar, than have settled.',
    violations: `select challenge_id as id from (${COUNTED}) counted where ${COUNTED_TWICE}`,
    atEnd: `select challenge_id as id from (${ADDED_UP}) counted where ${COUNTED_TWICE}`,
  },
  {
    id: 'monitor_counts_every_outcome',
    description: 'The drift monitor of a challenge that was always live counts every settled paid attempt.',
    // The condition excludes a challenge that was live before monitors existed, because it has
    // outcomes that are older than its monitor.
    violations: `
      select c.challenge_id as id
      from (${COUNTED}) c
      where c.first_at >= c.started_at and (c.attempts, c.passes) <> (c.settled, c.cleared) and ${WAS_ALWAYS_LIVE}`,
    atEnd: `
      select c.challenge_id as id
      from (${ADDED_UP}) c
      where c.settled > 0 and c.early = 0 and (c.attempts, c.passes) <> (c.settled, c.cleared) and ${WAS_ALWAYS_LIVE}`,
  },
  {
    id: 'status_follows_from_its_history',
    description: 'The status of every challenge that was changed is the one that its last change left.',
    violations: `
      select c.id
      from challenges c
      join (select challenge_id, max(id) as last from status_changes group by challenge_id) l on l.challenge_id = c.id
      join status_changes s on s.id = l.last
      where c.status <> s.to_status`,
  },
  {
    id: 'suspension_by_drift_follows_from_its_history',
    description: 'A challenge holds its awards exactly from its suspension by drift until an operator reinstates it.',
    violations: `
      select c.id
      from challenges c
      left join lateral (
        select s.cause = 'drift' as holds from status_changes s
        where s.challenge_id = c.id and (s.cause = 'drift' or s.to_status not in ('suspended', 'closed'))
        order by s.id desc limit 1
      ) last on true
      where c.suspended_by_drift <> coalesce(last.holds, false)`,
  },
];
