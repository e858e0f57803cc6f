-- While a bar of reported scores is unconfirmed, at most 100 attempts are open or wait for the drift monitor: each holds a slot of its
-- challenge from its reservation on. A slot whose attempt ended without an outcome is given to the next; the monitor frees those of
-- attempts that it has counted.
--
-- The release before this one takes no slots: the limit is exact once its last replica is replaced and the attempts that it opened have
-- ended, an hour later at most.

create table ramp_slots (
  challenge_id uuid not null,
  slot smallint not null,
  attempt_id uuid not null,
  constraint ramp_slots_pkey primary key (challenge_id, slot),
  constraint ramp_slots_one_for_each_attempt unique (attempt_id),
  constraint ramp_slots_are_a_hundred check (slot between 1 and 100),
  constraint ramp_slots_challenge_id_fkey foreign key (challenge_id) references challenges (id),
  constraint ramp_slots_attempt_id_fkey foreign key (attempt_id) references attempts (id)
)
with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
