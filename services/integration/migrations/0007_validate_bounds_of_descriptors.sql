-- Reads the table once under a lock that lets reads and writes go on, which 0006 could not do in its own transaction.
-- The code of the release before does not depend on it.

alter table integrations
  validate constraint integrations_descriptor_length,
  validate constraint integrations_cursor_length;
