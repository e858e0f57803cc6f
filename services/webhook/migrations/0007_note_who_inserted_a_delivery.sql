-- The transaction that inserted a delivery, by which a reader of the log's new deliveries continues exactly where it
-- stopped (domain/log-tail.ts): an instant cannot say which of two deliveries was committed first.
--
-- The release before leaves the column out of its inserts and gets the default. It is null on older deliveries, which
-- are new to no reader.

alter table deliveries add column inserted_by xid8;
-- Set in a statement of its own: a volatile default of a new column would rewrite the table.
alter table deliveries alter column inserted_by set default pg_current_xact_id();

-- Each migration is one transaction, which rules `concurrently` out. No existing row is in the index.
-- squawk-ignore require-concurrent-index-creation
create index deliveries_tail on deliveries (endpoint_id, inserted_by, id) where inserted_by is not null;
