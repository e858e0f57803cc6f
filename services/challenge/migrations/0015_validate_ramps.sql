-- Reads the table once under a lock that lets reads and writes go on, which 0014 could not do in its own transaction.

alter table challenges
  validate constraint challenges_ramp_needs_a_bar,
  validate constraint challenges_ramp_is_begun;
