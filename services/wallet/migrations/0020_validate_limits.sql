-- Reads the table once under a lock that lets reads and writes go on, which 0019 could not do in its
-- own transaction.

alter table accounts validate constraint accounts_fee_limit_never_below_zero;
