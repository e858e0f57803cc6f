-- Reads the table once under a lock that lets reads and writes go on, which 0009 could not do in its own transaction. The code of the previous
-- release is not affected: the constraint already holds for every new row.

alter table idempotency_records validate constraint idempotency_records_state_is_known;
