-- What a program may pay out, and what it may charge one account, in any 24 hours
-- (src/domain/payout-hold.ts, src/domain/fee-limit.ts).
--
-- The previous release writes neither new column and asks for no limit: fees that it charges do not
-- count towards the limit of fees, payouts that it pays do count towards the limit of payouts. It
-- does not know the table or the new reasons, and never reads them.

-- A row exists for a program in live from its first payout on, and in test once an operator has set
-- a limit. A payout holds its lock, so it has no index but its key and room on its page: every
-- update is heap-only.
create table program_limits (
  program_id uuid not null,
  environment text not null,
  -- Null is the default of the environment.
  payout_limit_cents bigint,
  fee_limit_cents bigint,
  -- All payouts since the row exists. Who waited for the lock adds what was paid meanwhile to the
  -- sum of its snapshot.
  paid_cents bigint not null default 0,
  constraint program_limits_pkey primary key (program_id, environment),
  constraint program_limits_environment_is_known check (environment in ('test', 'live')),
  constraint program_limits_never_below_zero check (payout_limit_cents >= 0 and fee_limit_cents >= 0),
  constraint program_limits_paid_only_grows check (paid_cents >= 0)
) with (fillfactor = 50);

alter table payouts
  -- The limit of the program that the award was paid within; null where it had none, and for what
  -- no limit holds.
  add column program_limit_cents bigint;

-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index payouts_program_velocity_idx on payouts (program_id, environment, paid_at) include (amount_cents) where status = 'paid';

alter table accounts
  -- The most that one program may charge the account in 24 hours; null leaves the program's limit
  -- alone.
  add column fee_limit_cents bigint,
  add constraint accounts_fee_limit_never_below_zero check (fee_limit_cents >= 0) not valid;

alter table transfers
  -- The program that charged a fee, and the limit that it was charged within; null where there was
  -- none, and for every other kind.
  add column program_id uuid,
  add column program_limit_cents bigint;

-- Empty while it is made: fees from before have no program.
-- squawk-ignore require-concurrent-index-creation
create index transfers_program_fees_idx on transfers (player_ledger_id, program_id, created_at) include (amount_cents)
  where kind = 'fee' and state = 'posted' and program_id is not null;
