-- Reads the tables once under locks that let reads and writes go on, which 0015 could not do in its
-- own transaction.

alter table payouts validate constraint payouts_reason_is_known;

alter table accounts validate constraint accounts_fee_limit_never_below_zero;
