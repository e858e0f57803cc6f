-- Reads the table once under a lock that lets reads and writes go on, which 0014 could not do in its own transaction.
-- The code of the release before does not depend on it.

alter table tournaments validate constraint tournaments_rounds_are_open_for_entries;
