-- Every row has the default of 0004. The check of the whole table takes no lock that keeps others from writing.
alter table integrations validate constraint integrations_cursor_refusals_are_below_3;
