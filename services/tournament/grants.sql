-- The complete privileges of the role that runs the tournament service. After each migration,
-- migrate.ts revokes all of the role's privileges and grants these (decision 16). The service
-- cannot use a table or column that a migration adds until it is listed here. A statement that
-- locks rows needs the privilege to update at least one of their columns.

grant select, insert, update (status) on tournaments to :"running_role";
grant select, insert, update (status, entries_close_at, closes_at, settled_at) on rounds to :"running_role";
grant select, insert on round_cancellations to :"running_role";
grant select, insert, update (entry_id, account_id, status, fee_cents, created_at, fee_generation, closed_reason)
  on attempts to :"running_role";

-- The board.
grant select, insert, update (bought_at, best_attempt_id, best_score, best_tiebreak, best_score_at, best_player_ref, sort_key,
  final_rank, payout_cents) on entries to :"running_role";
grant select, insert, update (account_id) on entry_refs to :"running_role";
grant select, insert, update (entrants, scored_players, scored_attempts) on round_tallies to :"running_role";
grant select, insert, update (entries) on board_chunks to :"running_role";

-- Rows that are signed or paid.
grant select, insert on outcomes to :"running_role";
grant select, insert, update (status, paid_at) on round_payouts to :"running_role";
grant select, insert on award_reviews to :"running_role";
grant select, insert on seals to :"running_role";
grant select, insert on seal_nodes to :"running_role";
grant select, insert, update (valid_until) on signing_keys to :"running_role";

-- Queues and marks. The service locks rows before it deletes them; the privilege to update one
-- column of them is for that lock.
grant select, insert, update (since), delete on refunds_due to :"running_role";
grant select, insert, update (used_at), delete on key_uses to :"running_role";
grant select, insert, update (swept_until) on sweep_marks to :"running_role";
grant select, insert, update (published_at), delete on outbox to :"running_role";

-- The result of the continuous audit.
grant select, insert, update (next_run_at, finished_at, duration_ms, violations) on audit_runs to :"running_role";

-- The slices of the continuous audit.
grant select, insert (id, tails), update (started_at, completed_at, walk, after, snapshot, tails) on audit_passes to :"running_role";
grant select, insert, delete on audit_findings to :"running_role";
grant select, insert, update (cents), delete on audit_sums to :"running_role";

-- The archived months. Only functions of the owner write them (decision 38).
grant select on archived_attempts to :"running_role";
grant select on archived_months to :"running_role";
grant select on archived_batches to :"running_role";
grant select on all_attempts to :"running_role";
grant select on all_outcomes to :"running_role";
