-- The complete privileges of the role that runs the integration service. After each migration,
-- migrate.ts revokes all of the role's privileges and grants these (decision 16). The service
-- cannot use a table or column that a migration adds until it is listed here. A statement that
-- locks rows needs the privilege to update at least one of their columns.

grant select, insert, update (developer_id, open_environments, version) on programs to :"running_role";
grant select, insert, update (status, descriptor, signing_secret, previous_signing_secret, pull_secret, pull_origin,
  pull_interval_seconds, cursor, last_polled_at, next_poll_at, consecutive_failures, last_poll_error, leased_until, lease_number,
  cursor_refusals)
  on integrations to :"running_role";
-- Neither table's rows are ever deleted, and their content never changes.
grant select, insert on report_attempts to :"running_role";
grant select, insert, update (forwarded_at) on listened_samples to :"running_role";
-- The service locks these rows before it deletes them, which needs an update privilege; it changes
-- no column.
grant select, insert, update (at), delete on log_entries to :"running_role";
