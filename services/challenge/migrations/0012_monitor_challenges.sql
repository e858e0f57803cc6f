-- What follows a challenge once it is live: the ramp of its prize, the drift monitor, and the history of its status.

-- When the prize of a challenge that did not go live on observed scores was confirmed. Null: not yet, or never limited (`observed`).
alter table challenges add column ramp_completed_at timestamptz(3);

alter table challenges
  -- squawk-ignore constraint-missing-not-valid
  add constraint challenges_ramp_follows_source check (ramp_completed_at is null or (calibration_source <> 'observed' and threshold is not null));

-- Beside the terms, the bar is frozen too: it is set once, with its source. A closed challenge stays closed, and a completed ramp completed.
create or replace function refuse_change_of_challenge_terms() returns trigger language plpgsql as $$
declare
  changing constant text[] := array['status', 'threshold', 'calibration_source', 'ramp_completed_at', 'version'];
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
  if old.ramp_completed_at is not null and new.ramp_completed_at is distinct from old.ramp_completed_at then
    raise exception 'a completed ramp stays completed'
      using errcode = 'restrict_violation', constraint = 'challenges_ramp_is_completed_once';
  end if;
  return new;
end
$$;

-- Whether each paid attempt that settled had cleared its bar, in the commit that settled it: one row for each batch, whose settlement is the
-- path that all attempts take. The worker that counts takes the rows away in the commit that counts them, so each outcome is counted once.
create table unmonitored_outcomes (
  id bigint generated always as identity,
  -- Of each outcome in turn its challenge, and whether it cleared the bar.
  challenge_ids uuid[] not null,
  passed boolean[] not null,
  constraint unmonitored_outcomes_pkey primary key (id),
  constraint unmonitored_outcomes_are_not_empty check (cardinality(passed) >= 1 and cardinality(challenge_ids) = cardinality(passed))
)
with (autovacuum_vacuum_scale_factor = 0.05);

-- The monitor of each challenge that has a bar of its own, from going live or its last reinstatement on.
create table drift_monitors (
  challenge_id uuid not null,
  started_at timestamptz(3) not null,
  -- Settled paid attempts since then, and how many of them cleared the bar.
  attempts bigint not null,
  passes bigint not null,
  -- Rows of unmonitored_outcomes up to this one were settled before the last reinstatement, and do not count.
  counts_after bigint not null default 0,
  constraint drift_monitors_pkey primary key (challenge_id),
  constraint drift_monitors_challenge_id_fkey foreign key (challenge_id) references challenges (id),
  constraint drift_monitors_passes_are_attempts check (passes between 0 and attempts)
)
-- Room for the next version of each row beside it.
with (fillfactor = 50);

-- The evidence over time, for operators: one reading for each tenth that the attempts have grown by, and the reading that suspended.
create table drift_readings (
  challenge_id uuid not null,
  started_at timestamptz(3) not null,
  attempts bigint not null,
  passes bigint not null,
  -- Natural logarithms of both likelihood ratios: against the claim's upper edge (it is passed too often) and its lower edge.
  log_ratio_above double precision not null,
  log_ratio_below double precision not null,
  read_at timestamptz(3) not null,
  constraint drift_readings_pkey primary key (challenge_id, started_at, attempts),
  constraint drift_readings_challenge_id_fkey foreign key (challenge_id) references challenges (id),
  constraint drift_readings_passes_are_attempts check (passes between 0 and attempts)
);

-- Every change of a challenge's status, and the completion of its ramp: who or what caused it, and on what evidence. Never changed.
create table status_changes (
  -- The changes of one challenge are made one after the other, so this is their order.
  id bigint generated always as identity,
  challenge_id uuid not null,
  changed_at timestamptz(3) not null,
  from_status text not null,
  to_status text not null,
  cause text not null,
  -- The operator's words.
  note text,
  -- The monitor's state, where it caused the change.
  attempts bigint,
  passes bigint,
  log_ratio_above double precision,
  log_ratio_below double precision,
  constraint status_changes_pkey primary key (id),
  constraint status_changes_challenge_id_fkey foreign key (challenge_id) references challenges (id),
  constraint status_changes_statuses_are_known check (
    from_status in ('calibrating', 'live', 'suspended', 'closed') and to_status in ('calibrating', 'live', 'suspended', 'closed')),
  constraint status_changes_cause_is_known check (cause in ('calibrated', 'seeded', 'drift', 'ramp', 'operator')),
  constraint status_changes_note_length check (char_length(note) between 1 and 2000),
  constraint status_changes_monitor_states_its_evidence check (
    (cause in ('drift', 'ramp')) = (attempts is not null) and num_nulls(attempts, passes, log_ratio_above, log_ratio_below) in (0, 4))
);

create index status_changes_of_challenge on status_changes (challenge_id, id);

-- Challenges that are live before this release are monitored from now on.
insert into drift_monitors (challenge_id, started_at, attempts, passes)
select id, now(), 0, 0 from challenges where prize_structure = 'threshold' and threshold is not null;
