-- Reads the table once under a lock that permits reads and writes, which 0025 could not do in its
-- own transaction. The code of the previous release does not depend on it.

alter table rounds validate constraint rounds_cancel_reason_has_words;
