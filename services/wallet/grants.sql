-- The complete privileges of the role that runs the wallet. After each migration, migrate.ts
-- revokes all of the role's privileges and grants these (decision 16). The service cannot use a
-- table or column that a migration adds until it is listed here. A statement that locks rows needs
-- the privilege to update at least one of their columns.

grant select, insert,
  update (email, date_of_birth, self_excluded_until, enforcement_flag, under_investigation, blocked, jurisdiction, verification_level,
    fee_limit_cents)
  on accounts to :"running_role";
grant select, insert, update (account_id), delete on player_links to :"running_role";
grant select, insert on houses to :"running_role";
grant select, insert, update (severed, severed_at) on program_accounts to :"running_role";
grant select, insert, delete on insiders to :"running_role";

-- The ledger. An account starts at a balance of zero, because the service may not insert a balance.
grant select, insert (id, kind, environment, account_id, house_id, may_overdraw), update (balance_cents, hold_next_award)
  on ledger_accounts to :"running_role";
grant select, insert on transfers to :"running_role";
grant select, insert, update (status, transfer_id, paid_at, denied_at, program_paid_cents) on payouts to :"running_role";
grant select, insert on payout_decisions to :"running_role";

-- The limits of programs. A program begins with nothing paid.
grant select, insert (program_id, environment, payout_limit_cents, fee_limit_cents), update (payout_limit_cents, fee_limit_cents, paid_cents)
  on program_limits to :"running_role";

-- The result of the continuous audit.
grant select, insert, update (next_run_at, finished_at, duration_ms, violations) on audit_runs to :"running_role";

-- The slices of the continuous audit.
grant select, insert (id, tails), update (started_at, completed_at, walk, after, snapshot, tails) on audit_passes to :"running_role";
grant select, insert, delete on audit_findings to :"running_role";
grant select, insert, update (cents), delete on audit_sums to :"running_role";

-- The money of programs by day. A worker replaces the rows of open days.
grant select, insert, delete on program_days to :"running_role";
grant select, insert, delete on environment_days to :"running_role";
grant select, update (next_run_at, open_from, environments_open_from, counted_at) on day_counts to :"running_role";
