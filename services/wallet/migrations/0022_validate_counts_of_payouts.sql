-- Reads the table once under a lock that lets reads and writes go on, which 0021 could not do in its
-- own transaction.

alter table payouts validate constraint payouts_count_includes_them;
alter table payouts validate constraint payouts_counted_once_paid;
