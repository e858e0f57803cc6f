-- How many polls in a row the partner has refused the stored cursor with 400 or 410: the third one drops it, and paging begins anew.
-- The previous release leaves the column at its default, and drops no cursor.
alter table integrations
  add column cursor_refusals integer not null default 0,
  add constraint integrations_cursor_refusals_are_below_3
    check (cursor_refusals between 0 and 2) not valid;
