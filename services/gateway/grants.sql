-- The complete privileges of the role that runs the gateway. After each migration, migrate.ts
-- revokes all of the role's privileges and grants these (decision 16). The service cannot use a
-- table or column that a migration adds until it is listed here. A statement that locks rows needs
-- the privilege to update at least one of their columns.

grant select, insert, update (developer_id, status, deletion_scheduled, version, announced_version)
  on programs to :"running_role";
grant select, insert, update (revoked_at, last_used_at, key_hash, pepper_version) on api_keys to :"running_role";
grant select, insert, update (api_key_id) on approvals to :"running_role";
-- Creating a program locks its developer `for key share`; no column of a developer changes.
grant select, insert, update (created_at) on developers to :"running_role";
grant select, insert, delete on sessions to :"running_role";
grant select, insert, delete on operator_sessions to :"running_role";
grant select, insert, delete on sign_in_links to :"running_role";
grant select, insert, delete on sign_in_failures to :"running_role";
grant select, insert, update (last_signed_in_at), delete on known_clients to :"running_role";

-- The log of operators' actions: rows are inserted and never changed.
grant select, insert on operator_actions to :"running_role";
grant select, insert on operator_action_results to :"running_role";

-- Idempotency records and rate windows of requests.
grant select, insert, delete,
  update (operation_id, fingerprint, state, generation, status, body, created_at, locked_at)
  on idempotency_records to :"running_role";
grant select, insert, delete, update (key_id, started_at, requests, last_request_at) on request_windows to :"running_role";
-- For replicas of the previous release, until none is left.
grant select, insert, update (started_at, requests, last_request_at) on rate_windows to :"running_role";

-- The result of the continuous audit.
grant select, insert, update (next_run_at, finished_at, duration_ms, violations) on audit_runs to :"running_role";

-- The request log. Two functions, which run as the owner, make and drop its partitions.
grant select, insert on request_batches to :"running_role";
grant usage on sequence request_batch_numbers to :"running_role";
grant execute on function make_request_partitions() to :"running_role";
grant execute on function drop_request_partitions() to :"running_role";
grant select, insert, delete, update (requests) on request_counts to :"running_role";
grant select, insert on first_requests to :"running_role";
