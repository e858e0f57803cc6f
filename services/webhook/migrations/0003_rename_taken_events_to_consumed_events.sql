-- Names the table of consumed events, and its parts, as the code and the metrics do. The previous release uses the old names and does not run
-- on this schema.

-- squawk-ignore renaming-table
alter table taken_events rename to consumed_events;
-- squawk-ignore renaming-column
alter table consumed_events rename column taken_at to consumed_at;
alter table consumed_events rename constraint taken_events_pkey to consumed_events_pkey;
alter table consumed_events rename constraint taken_events_id_not_null to consumed_events_id_not_null;
alter table consumed_events rename constraint taken_events_taken_at_not_null to consumed_events_consumed_at_not_null;
alter index taken_events_by_age rename to consumed_events_by_age;
-- The column of the index has a name of its own.
-- squawk-ignore renaming-column
alter table consumed_events_by_age rename column taken_at to consumed_at;
