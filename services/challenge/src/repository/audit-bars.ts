/**
 * The invariants of bars: every bar follows from its stored source, has a drift monitor, and has or
 * had a ramp if the source requires one.
 */
import { ATTEMPTS } from '@laurel/attempts';
import { ofRows, type SlicedCheck } from '@laurel/postgres';
import { rampCapOf } from '../domain/ramp.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { SAMPLED_CHALLENGES } from './audit-walks.ts';
import { isUnconfirmedSql } from './ramp-slots.ts';

export const BAR_CHECKS: readonly SlicedCheck[] = [
  {
    id: 'seeded_bar_follows_from_its_percentiles',
    description: 'The bar of a seeded challenge is the quantile of its percentiles at its target pass rate.',
    // This check computes in decimals, because PostgreSQL's doubles raise an error on overflow and
    // underflow. The tolerance covers the rounding of the service (domain/calibration.ts): to 15
    // digits of a score, and for subnormal scores to multiples of 5e-324, the smallest step of
    // doubles.
    violations: `
      select c.id
      from challenges c left join seeded_distributions s on s.challenge_id = c.id
      left join lateral (
        select least(greatest(
          case c.threshold_direction when 'higher_is_better' then 1 - c.target_pass_rate else c.target_pass_rate end, 0.05), 0.95) as share
      ) q on true
      left join lateral (
        select low::numeric + (high::numeric - low::numeric) * ((q.share - starts) / (ends - starts))::numeric as score
        from (values (0.05, 0.25, s.p5, s.p25), (0.25, 0.5, s.p25, s.p50), (0.5, 0.75, s.p50, s.p75), (0.75, 0.95, s.p75, s.p95))
          as part (starts, ends, low, high)
        where q.share between starts and ends
        order by starts limit 1
      ) bar on true
      where (c.calibration_source = 'partner_seeded' or s.challenge_id is not null) and (
        (c.calibration_source = 'partner_seeded' and c.threshold = s.threshold) is not true
        or abs(c.threshold::numeric - bar.score)
          > 1e-9 * (s.p95::numeric - s.p5::numeric) + 1e-12 * greatest(abs(s.p5::numeric), abs(s.p95::numeric)) + 1e-322)`,
  },
  {
    id: 'calibrated_bar_follows_from_its_samples',
    description: 'The bar of a calibrated challenge is the sample whose rank is its target pass rate.',
    // The join skips a challenge that its operator opened with a bar, because it has no
    // calibration.
    ...ofRows(
      SAMPLED_CHALLENGES,
      (challenges) => `
      select c.key, c.id
      from ${challenges} c join calibrations k on k.challenge_id = c.id
      cross join lateral (select greatest(floor(c.target_pass_rate * k.collected + 0.5), 1)::bigint as rank) r
      left join lateral (
        (select s.score from bar_samples s
         where c.threshold_direction = 'higher_is_better' and s.challenge_id = c.id order by s.score desc offset r.rank - 1 limit 1)
        union all
        (select s.score from bar_samples s
         where c.threshold_direction = 'lower_is_better' and s.challenge_id = c.id order by s.score asc offset r.rank - 1 limit 1)
      ) bar on true
      where c.threshold is not null and c.calibration_source in ('observed', 'listened') and c.threshold is distinct from bar.score`,
    ),
  },
  {
    id: 'derived_bar_is_no_easier',
    description: 'The bar of a rung that was derived is at least as hard as that of the rung below.',
    violations: `
      select c.id
      from challenges c left join challenges p on p.id = c.parent_challenge_id
      where c.calibration_source = 'rung_derived' and
        (case c.threshold_direction when 'higher_is_better' then c.threshold >= p.threshold else c.threshold <= p.threshold end) is not true`,
  },
  {
    id: 'calibration_counts_its_samples',
    description: 'The progress of every calibration is the number of its samples and of their players.',
    // This check only compares counts: fair_share_counts_its_samples compares the players with the
    // samples. Grouping 10 million samples by player here too would take 6 s more.
    violations: `
      select coalesce(k.challenge_id, s.challenge_id) as id
      from calibrations k
      full join (
        select challenge_id, collected, (select count(*) from calibration_players p where p.challenge_id = counted.challenge_id) as players
        from (select challenge_id, count(*) as collected from bar_samples group by challenge_id) counted
        where exists (select from challenges c where c.id = counted.challenge_id and c.prize_structure = 'threshold')
      ) s on s.challenge_id = k.challenge_id
      where (coalesce(k.collected, 0), coalesce(k.players, 0)) <> (coalesce(s.collected, 0), coalesce(s.players, 0))`,
    slices: {
      [SAMPLED_CHALLENGES.walk]: `
      select slice.key, slice.key as id
      from slice
      left join calibrations k on k.challenge_id = slice.key
      left join challenges c on c.id = slice.key and c.prize_structure = 'threshold'
      cross join lateral (
        select count(*) as collected, (select count(*) from calibration_players p where p.challenge_id = c.id) as players
        from bar_samples where challenge_id = c.id
      ) s
      where (coalesce(k.collected, 0), coalesce(k.players, 0)) <> (s.collected, s.players)`,
    },
  },
  {
    id: 'live_calibration_counts_accounts',
    description: 'Every sample of a calibration of live money is that of an account.',
    ...ofRows(
      SAMPLED_CHALLENGES,
      (challenges) => `
      select c.key, c.id
      from ${challenges} c
      where c.environment = 'live' and c.prize_structure = 'threshold' and c.threshold is null
        and exists (select from bar_samples s where s.challenge_id = c.id and s.player like 'ref:%')`,
    ),
  },
  {
    id: 'fair_share_counts_its_samples',
    description: 'The count of every player of a calibration is that of the samples of the player.',
    violations: `
      select distinct coalesce(p.challenge_id, s.challenge_id) as id
      from calibration_players p
      full join (
        select s.challenge_id, s.player, count(*) as samples
        from bar_samples s join challenges c on c.id = s.challenge_id
        where c.prize_structure = 'threshold'
        group by s.challenge_id, s.player
      ) s on s.challenge_id = p.challenge_id and s.player = p.player
      where p.samples is distinct from s.samples`,
    slices: {
      [SAMPLED_CHALLENGES.walk]: `
      select slice.key, slice.key as id
      from slice
      where exists (
        select from (select player, samples from calibration_players where challenge_id = slice.key) p
        full join (
          select s.player, count(*) as samples
          from bar_samples s join challenges c on c.id = s.challenge_id
          where s.challenge_id = slice.key and c.prize_structure = 'threshold'
          group by s.player
        ) s on s.player = p.player
        where p.samples is distinct from s.samples)`,
    },
  },
  {
    id: 'reported_bar_is_ramped',
    description: 'Every bar is ramped that is not the one that an operator opened its challenge with.',
    // The source `observed` is also the source of an operator's bar; only a bar from samples has a
    // calibration.
    violations: `
      select c.id
      from challenges c left join calibrations k on k.challenge_id = c.id
      where (c.ramped_from is not null)
        is distinct from (c.threshold is not null and (c.calibration_source <> 'observed' or k.challenge_id is not null))`,
  },
  {
    id: 'bar_has_its_monitor',
    description: 'A drift monitor watches every challenge that has a bar of its own, and no other.',
    violations: `
      select coalesce(c.id, m.challenge_id) as id
      from (select id from challenges where threshold is not null) c
      full join drift_monitors m on m.challenge_id = c.id
      where c.id is null or m.challenge_id is null`,
  },
];

/** The invariants of attempts of unconfirmed bars, and of the slots that limit their number. */
export const SLOT_CHECKS: readonly SlicedCheck[] = [
  {
    id: 'unconfirmed_attempt_has_its_slot',
    description: 'Every attempt that is open while the bar of its challenge is unconfirmed holds one of its slots.',
    // Two kinds of attempts need no slot: attempts that an older software version, which had no
    // slots, opened before the ramp of a live challenge; and attempts that were opened under a
    // confirmed bar, before an operator reinstated the challenge.
    ...ofRows(
      ATTEMPTS,
      (attempts) => `
      select a.key, a.id
      from challenges c
      join drift_monitors m on m.challenge_id = c.id
      join ${attempts} a on a.challenge_id = c.id
      where ${isUnconfirmedSql('c')} and a.threshold is not null and a.status in ('pending', 'open')
        and a.created_at >= greatest(c.ramped_from, m.started_at)
        and not exists (select from ramp_slots s where s.attempt_id = a.id and s.challenge_id = a.challenge_id)`,
    ),
  },
];

/**
 * Replicas agree about the time only within a second. So the check skips attempts that are dated up
 * to a second before the completion of the ramp: they may have been created after it.
 */
export function rampCheckOf(ceilings: TierCeilings): SlicedCheck {
  return {
    id: 'ramp_kept_the_cap',
    description: "No attempt froze a prize above 20 % of its tier's ceiling while its challenge ramped.",
    ...ofRows(
      ATTEMPTS,
      (attempts) => `
      select a.key, a.id
      from ${attempts} a join challenges c on c.id = a.challenge_id
      where c.ramped_from is not null and (c.calibration_source <> 'observed' or a.created_at >= c.ramped_from)
        and a.prize_cents > (array[${ceilings.map(rampCapOf).join(', ')}]::bigint[])[c.integrity_tier]
        and (c.ramp_completed_at is null or a.created_at < c.ramp_completed_at - interval '1 second')`,
    ),
  };
}
