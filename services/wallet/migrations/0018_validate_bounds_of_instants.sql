-- Reads the table once under a lock that lets reads and writes go on, which 0017 could not do in its own transaction.
-- The code of the release before does not depend on it.

alter table accounts
  validate constraint accounts_self_exclusion_ends_within_bounds,
  validate constraint accounts_date_of_birth_is_within_bounds;
