-- The money of each program by UTC day, counted from the ledger by a worker (src/workers/count-
-- days.ts), so that a month of all programs is read from a few rows. Nothing that moves money
-- writes these tables. The previous release does not know them.

create table program_days (
  day date not null,
  environment text not null,
  -- The null uuid stands for fees from before the ledger named their program.
  program_id uuid not null,
  fees_cents bigint not null,
  refunds_cents bigint not null,
  paid_cents bigint not null,
  held_cents bigint not null,
  denied_cents bigint not null,
  constraint program_days_pkey primary key (day, environment, program_id),
  constraint program_days_environment_is_known check (environment in ('test', 'live')),
  constraint program_days_never_below_zero
    check (least(fees_cents, refunds_cents, paid_cents, held_cents, denied_cents) >= 0)
);

create index program_days_of_program on program_days (program_id, environment, day);

-- One row: the replica that moves `next_run_at` counts.
create table day_counts (
  id smallint not null,
  next_run_at timestamptz(3) not null,
  -- Days before it are closed: they are never counted again.
  open_from date not null,
  -- The instant of the ledger that the open days show; null before the first run.
  counted_at timestamptz(3),
  constraint day_counts_pkey primary key (id),
  constraint day_counts_is_one_row check (id = 1)
);

insert into day_counts (id, next_run_at, open_from) values (1, now(), '1970-01-01');
