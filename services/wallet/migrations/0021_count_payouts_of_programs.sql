-- What a program has paid in 24 hours, without reading each of its payouts: a paid payout keeps the
-- program's count as it was after it, so the payouts of a window are what the count has grown by
-- since the last payout before it (src/repository/program-limits.ts).
--
-- A payout without a count is read one by one, from an index of its own: those from before this
-- migration, those of the release before, and in test those of programs without a limit.
--
-- Statements are planned once, at first while the tables are empty, where all indexes cost the same:
-- the sum of an account's payouts took the index of programs, and read every payout of the last 24
-- hours. The conditions of these two imply no other index, and no condition of another statement
-- implies them.
--
-- The release before adds up a program's payouts by their status and finds no index for it. It reads
-- more rows until it is gone, and gets the same sums. What it pays meanwhile is counted twice by
-- this one, for 24 hours: an award may be held that was within the limit, none is paid beyond it.

alter table payouts
  -- What the program has paid since its row exists, this payout included; null where it had none.
  add column program_paid_cents bigint,
  add constraint payouts_count_includes_them check (program_paid_cents >= amount_cents) not valid,
  add constraint payouts_counted_once_paid check (program_paid_cents is null or paid_at is not null) not valid;

-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index payouts_counted_idx on payouts (program_id, environment, paid_at) include (amount_cents, program_paid_cents)
  where program_paid_cents is not null;

-- squawk-ignore require-concurrent-index-creation
create index payouts_uncounted_idx on payouts (program_id, environment, paid_at) include (amount_cents)
  where program_paid_cents is null and paid_at is not null;

-- squawk-ignore require-concurrent-index-deletion
drop index payouts_program_velocity_idx;

-- The count begins anew, with the first payout that keeps it.
update program_limits set paid_cents = 0;
