-- Every bar that rests on reported scores is ramped, a bar of source `observed` included: the holder of a key reports those scores.
-- Only a bar that an operator set at the opening has no ramp. It has the source `observed` too, so its row says which of the two it is.
--
-- The database sets the new column itself, for the release before this one too. That release offers the whole prize on an observed bar
-- until its last replica is replaced; the audit names the attempts that froze one.

alter table challenges
  -- From when on attempts are ramped. Null: there is no bar, an operator set it, or it moves (`top_n`).
  add column ramped_from timestamptz(3),
  drop constraint challenges_ramp_follows_source,
  -- 0015 validates both.
  add constraint challenges_ramp_needs_a_bar check (ramped_from is null or threshold is not null) not valid,
  add constraint challenges_ramp_is_begun check (ramp_completed_at is null or ramped_from is not null) not valid;

create or replace function refuse_change_of_challenge_terms() returns trigger language plpgsql as $$
declare
  changing constant text[] := array['status', 'threshold', 'calibration_source', 'ramped_from', 'ramp_completed_at', 'version'];
begin
  if tg_op = 'DELETE' then
    raise exception 'challenges are never deleted' using errcode = 'restrict_violation', constraint = 'challenges_are_kept';
  end if;
  if to_jsonb(new) - changing is distinct from to_jsonb(old) - changing then
    raise exception 'the terms of a challenge never change'
      using errcode = 'restrict_violation', constraint = 'challenges_terms_are_frozen';
  end if;
  if old.threshold is not null and (new.threshold is distinct from old.threshold or new.calibration_source <> old.calibration_source) then
    raise exception 'the bar of a challenge is set once'
      using errcode = 'restrict_violation', constraint = 'challenges_bar_is_frozen';
  end if;
  if old.status = 'closed' and new.status <> 'closed' then
    raise exception 'a closed challenge stays closed'
      using errcode = 'restrict_violation', constraint = 'challenges_closing_is_final';
  end if;
  if old.ramped_from is not null and new.ramped_from is distinct from old.ramped_from then
    raise exception 'a ramp is begun once'
      using errcode = 'restrict_violation', constraint = 'challenges_ramp_is_begun_once';
  end if;
  if old.ramp_completed_at is not null and new.ramp_completed_at is distinct from old.ramp_completed_at then
    raise exception 'a completed ramp stays completed'
      using errcode = 'restrict_violation', constraint = 'challenges_ramp_is_completed_once';
  end if;
  return new;
end
$$;

-- Challenges that are live already by an observed bar are ramped from now on: their bars rest on the same word. Open attempts keep the
-- prize that they froze. Where the monitor has counted 100 attempts and let the challenge live, those confirm the bar, and the whole
-- prize stays on offer. An observed bar has a calibration, and an operator's has none.
update challenges c set ramped_from = now()
where c.threshold is not null
  and (c.calibration_source <> 'observed' or exists (select from calibrations k where k.challenge_id = c.id));

update challenges c set ramp_completed_at = now()
where c.ramped_from is not null and c.calibration_source = 'observed' and c.status = 'live'
  and exists (select from drift_monitors m where m.challenge_id = c.id and m.attempts >= 100);

-- A bar that comes with the row and is `observed` is an operator's; every other bar is ramped from the beginning.
create function ramp_reported_bar() returns trigger language plpgsql as $$
begin
  if new.threshold is null or new.ramped_from is not null then return new; end if;
  if tg_op = 'INSERT' then
    if new.calibration_source = 'observed' then return new; end if;
  elsif old.threshold is not null then
    return new;
  end if;
  new.ramped_from := new.created_at;
  return new;
end
$$;

-- Its name comes before those of the other triggers, which therefore see the column set.
create trigger challenges_bar_is_ramped before insert or update on challenges
  for each row execute function ramp_reported_bar();
