-- The one run of the audit that is under way or due, and the result of the last one (libs/postgres/src/continuous-audit.ts). One row: the
-- replica that moves `next_run_at` is the one that runs it, and every replica shows the result in its metrics.
--
-- The previous release does not know the table.

create table audit_runs (
  id smallint not null,
  next_run_at timestamptz(3) not null,
  -- Of the last whole run; null before the first.
  finished_at timestamptz(3),
  duration_ms bigint,
  -- The number of violations by check.
  violations jsonb,
  constraint audit_runs_pkey primary key (id),
  constraint audit_runs_is_one_row check (id = 1),
  constraint audit_runs_result_is_whole check (num_nulls(finished_at, duration_ms, violations) in (0, 3))
);
