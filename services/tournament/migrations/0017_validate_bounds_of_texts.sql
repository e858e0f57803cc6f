-- Reads the tables once under a lock that lets reads and writes go on, which 0016 could not do in its
-- own transaction. The code of the release before does not depend on it.

alter table tournaments validate constraint tournaments_description_length;
alter table tournaments validate constraint tournaments_metric_name_length;
alter table tournaments validate constraint tournaments_metric_unit_length;
alter table tournaments validate constraint tournaments_tiebreak_metric_name_length;
alter table attempts validate constraint attempts_closed_reason_length;
