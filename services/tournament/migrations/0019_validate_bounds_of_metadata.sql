-- Reads the tables once under a lock that lets reads and writes go on, which 0018 could not do in its own
-- transaction. The code of the release before does not depend on it.

alter table tournaments validate constraint tournaments_description_length;
alter table attempts validate constraint attempts_metadata_length;
alter table entries validate constraint entries_best_player_ref_length;
