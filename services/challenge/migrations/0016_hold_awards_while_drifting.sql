-- An award of a challenge that is suspended by drift is held: it is `holding` from the commit that records the win until the wallet has
-- held it. That commit locks the challenge's row, so the row says whether the suspension lasts.
--
-- The release before this one suspends and reinstates by the same rows of status_changes, so a trigger keeps the new column for both.
-- That release knows no `holding`: its sweeper leaves such an award alone, and shows it as held. Its own wins are `paying` as before.

alter table challenges
  -- The drift monitor suspended it, and no operator has reinstated it since. A challenge that is closed then keeps it.
  add column suspended_by_drift boolean not null default false;

create or replace function refuse_change_of_challenge_terms() returns trigger language plpgsql as $$
declare
  changing constant text[] := array[
    'status', 'threshold', 'calibration_source', 'ramped_from', 'ramp_completed_at', 'suspended_by_drift', 'version'];
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

-- Challenges that drift has suspended already: what is reported on them from now on is held.
update challenges c set suspended_by_drift = true
where c.status in ('suspended', 'closed') and (
  select s.cause from status_changes s where s.challenge_id = c.id and s.to_status = 'suspended' order by s.id desc limit 1) = 'drift';

create function follow_drift_of_challenge() returns trigger language plpgsql as $$
begin
  if new.cause = 'drift' then
    update challenges set suspended_by_drift = true where id = new.challenge_id and not suspended_by_drift;
  elsif new.to_status not in ('suspended', 'closed') then
    update challenges set suspended_by_drift = false where id = new.challenge_id and suspended_by_drift;
  end if;
  return null;
end
$$;

-- Whoever writes the history has locked the challenge's row, and moves its status in the same transaction.
create trigger status_changes_mark_drift after insert on status_changes
  for each row execute function follow_drift_of_challenge();

alter table awards
  drop constraint awards_status_is_known,
  -- 0017 validates it.
  add constraint awards_status_is_known check (
    status = any ('{paying,holding,paid,held,releasing,denying,denied}'::text[])
  ) not valid;

-- Beside awards_unfinished, which is of the statuses that the release before this one knows.
-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index awards_holding on awards (created_at) where status = 'holding';
