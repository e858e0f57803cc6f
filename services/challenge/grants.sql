-- The complete privileges of the role that runs the challenge service. After each migration,
-- migrate.ts revokes all of the role's privileges and grants these (decision 16). The service
-- cannot use a table or column that a migration adds until it is listed here. A statement that
-- locks rows needs the privilege to update at least one of their columns.

grant select, insert, update (status, threshold, calibration_source, ramp_completed_at, suspended_by_drift) on challenges to :"running_role";
grant select, insert,
  update (account_id, status, fee_cents, prize_cents, threshold, created_at, fee_generation, disqualified_at, closed_reason)
  on attempts to :"running_role";
grant select, insert on bar_samples to :"running_role";
grant select, insert, update (collected, players, anchor_score, anchor_below, anchor_at_or_below) on calibrations to :"running_role";
grant select, insert, update (samples) on calibration_players to :"running_role";
grant select, insert on seeded_distributions to :"running_role";
grant select, insert, update (started_at, attempts, passes, counts_after) on drift_monitors to :"running_role";
grant select, insert, update (attempt_id), delete on ramp_slots to :"running_role";
grant select, insert on drift_readings to :"running_role";
grant select, insert on status_changes to :"running_role";

-- Rows that are signed or paid for.
grant select, insert on outcomes to :"running_role";
grant select, insert, update (status, paid_at) on awards to :"running_role";
grant select, insert on award_reviews to :"running_role";
grant select, insert, update (valid_until) on signing_keys to :"running_role";

-- Queues and marks.
-- Rows are locked before they are deleted; no column of them changes.
grant select, insert, update (since), delete on refunds_due to :"running_role";
grant select, insert, update (passed), delete on unmonitored_outcomes to :"running_role";
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
