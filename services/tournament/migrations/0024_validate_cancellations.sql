-- Reads the table once under a lock that permits reads and writes, which 0023 could not do in its
-- own transaction. The code of the previous release does not depend on it.

alter table rounds validate constraint rounds_cancellation_is_complete;
alter table rounds validate constraint rounds_cancelled_by_length;
alter table rounds validate constraint rounds_cancel_reason_length;
alter table rounds validate constraint rounds_that_are_cancelled_are_over;
alter table rounds validate constraint rounds_that_are_cancelled_never_settle;
