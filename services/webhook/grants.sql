-- The complete privileges of the role that runs the webhook service. After each migration,
-- migrate.ts revokes all of the role's privileges and grants these (decision 16). The service
-- cannot use a table or column that a migration adds until it is listed here. A statement that
-- locks rows needs the privilege to update at least one of their columns.

grant select, insert, update (developer_id, version) on programs to :"running_role";
grant select, insert, update (url, events, description, is_active, secret, deleted_at), delete
  on endpoints to :"running_role";
grant select, insert, update (status, attempts, next_attempt_at, sending_since, leased_until, closed_at), delete
  on deliveries to :"running_role";
-- The foreign key deletes sends with their delivery.
grant select, insert, update (duration_ms, dns_ms, connect_ms, wait_ms, read_ms, http_status, error_kind, error,
  response_excerpt) on delivery_attempts to :"running_role";
-- The service locks these rows before it deletes them, which needs an update privilege; it changes
-- no column.
grant select, insert, update (consumed_at), delete on consumed_events to :"running_role";
grant select, insert, update (last_position) on sandbox_logs to :"running_role";
-- As for consumed_events: locking needs the privilege, and no column changes.
grant select, insert, update (created_at), delete on sandbox_events to :"running_role";
