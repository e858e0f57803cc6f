-- Reads the table once under a lock that lets reads and writes go on, which 0023 could not do in its own transaction.
-- The code of the release before does not depend on it.

alter table accounts
  validate constraint accounts_email_is_lower_case,
  validate constraint accounts_email_length;
