-- The money of all programs by UTC day, summed from `program_days` by the same worker, so that a
-- month of a thousand programs is read from one row for each day and environment.

create table environment_days (
  day date not null,
  environment text not null,
  fees_cents bigint not null,
  refunds_cents bigint not null,
  paid_cents bigint not null,
  held_cents bigint not null,
  denied_cents bigint not null,
  constraint environment_days_pkey primary key (day, environment),
  constraint environment_days_environment_is_known check (environment in ('test', 'live')),
  constraint environment_days_never_below_zero
    check (least(fees_cents, refunds_cents, paid_cents, held_cents, denied_cents) >= 0)
);

-- Days before it are summed and closed; null before the first run that sums. The previous release
-- closes days without summing them, so the next run of this one begins there.
alter table day_counts add column environments_open_from date;

insert into environment_days
select day, environment, sum(fees_cents), sum(refunds_cents), sum(paid_cents), sum(held_cents), sum(denied_cents)
from program_days group by day, environment;
