-- Reads the table once under a lock that lets reads and writes go on, which 0016 could not do in its own transaction.

alter table awards validate constraint awards_status_is_known;
