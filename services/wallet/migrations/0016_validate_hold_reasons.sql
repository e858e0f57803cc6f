-- Reads the table once under a lock that lets reads and writes go on, which 0015 could not do in its own transaction.

alter table payouts validate constraint payouts_reason_is_known;
