-- What an operator offers: a fixed prize, and the bar that wins it.

create table challenges (
  id uuid not null,
  program_id uuid not null,
  environment text not null,
  -- A top_n challenge is stored 'live' from the start: it is shown as calibrating for as long as it has fewer than n scores.
  status text not null,
  name text not null,
  description text,
  fee_cents bigint not null,
  prize_cents bigint not null,
  prize_structure text not null,
  top_n integer,
  metric_name text not null,
  metric_unit text not null,
  threshold_direction text not null,
  -- The bar. Null until calibrated, and always for top_n, whose bar is read off bar_samples.
  threshold double precision,
  calibration_source text not null,
  score_min double precision,
  score_max double precision,
  target_pass_rate double precision not null,
  integrity_tier integer not null,
  min_calibration_n integer not null,
  min_calibration_players integer not null,
  daily_attempt_cap integer not null,
  required_verification_level integer not null,
  -- Empty means all.
  jurisdictions text[] not null,
  parent_challenge_id uuid,
  rung integer not null,
  created_at timestamptz(3) not null,
  constraint challenges_pkey primary key (id),
  -- Carries the columns that a rung shares with its parent, for the foreign key below.
  constraint challenges_ladder_key unique (id, program_id, environment, threshold_direction),
  constraint challenges_parent_shares_tenant_and_direction
    foreign key (parent_challenge_id, program_id, environment, threshold_direction)
    references challenges (id, program_id, environment, threshold_direction),
  constraint challenges_environment_is_known check (environment in ('test', 'live')),
  constraint challenges_status_is_known check (status in ('calibrating', 'live', 'suspended', 'closed')),
  constraint challenges_name_length check (char_length(name) between 1 and 255),
  constraint challenges_fee_is_positive check (fee_cents > 0),
  constraint challenges_prize_is_positive check (prize_cents > 0),
  constraint challenges_prize_structure_is_known check (prize_structure in ('threshold', 'top_n')),
  constraint challenges_top_n_has_its_n check ((prize_structure = 'top_n') = (top_n is not null) and (top_n is null or top_n >= 1)),
  constraint challenges_direction_is_known check (threshold_direction in ('higher_is_better', 'lower_is_better')),
  -- 'NaN' sorts above 'Infinity' in PostgreSQL, so these bounds exclude all that is not finite.
  constraint challenges_threshold_is_finite check (threshold > '-Infinity' and threshold < 'Infinity'),
  constraint challenges_threshold_follows_status check (
    case
      when prize_structure = 'top_n' then threshold is null and status <> 'calibrating'
      when status = 'calibrating' then threshold is null
      when status = 'live' then threshold is not null
      else true
    end
  ),
  constraint challenges_calibration_source_is_known
    check (calibration_source in ('observed', 'listened', 'partner_seeded', 'rung_derived')),
  constraint challenges_score_bounds_are_finite
    check (score_min > '-Infinity' and score_min < 'Infinity' and score_max > '-Infinity' and score_max < 'Infinity'),
  constraint challenges_score_bounds_are_in_order check (score_min <= score_max),
  constraint challenges_target_pass_rate_is_a_rate check (target_pass_rate > 0 and target_pass_rate < 1),
  constraint challenges_integrity_tier_is_known check (integrity_tier between 1 and 3),
  constraint challenges_calibration_floors_are_positive check (min_calibration_n >= 1 and min_calibration_players >= 1),
  constraint challenges_daily_attempt_cap_is_positive check (daily_attempt_cap >= 1),
  constraint challenges_verification_level_is_known check (required_verification_level between 0 and 3),
  constraint challenges_rung_follows_parent check ((parent_challenge_id is null) = (rung = 1) and rung >= 1)
);

create index challenges_of_tenant on challenges (program_id, environment, created_at, id);

-- The terms are frozen: attempts read direction, score bounds and tenant from here instead of copying them, and no attempt may see
-- them change. Only the status and the bar move. Deleting is refused too, which is what lets attempts go without a foreign key.
create function refuse_change_of_challenge_terms() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'challenges are never deleted' using errcode = 'restrict_violation', constraint = 'challenges_are_kept';
  end if;
  if to_jsonb(new) - array['status', 'threshold', 'calibration_source']
    is distinct from to_jsonb(old) - array['status', 'threshold', 'calibration_source'] then
    raise exception 'the terms of a challenge never change'
      using errcode = 'restrict_violation', constraint = 'challenges_terms_are_frozen';
  end if;
  return new;
end
$$;

create trigger challenges_terms_are_frozen before update or delete on challenges
  for each row execute function refuse_change_of_challenge_terms();
