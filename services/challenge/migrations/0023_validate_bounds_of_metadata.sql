-- Reads the tables once under a lock that lets reads and writes go on, which 0022 could not do in its own
-- transaction. The code of the release before does not depend on it.

alter table challenges validate constraint challenges_description_length;
alter table attempts validate constraint attempts_metadata_length;
