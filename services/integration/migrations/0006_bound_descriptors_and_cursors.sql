-- A descriptor has at most 16 KiB as text (libs/limits), and a cursor as many characters as the URL that it
-- is sent in (libs/untrusted-url): a longer one could be stored and never be read or requested. The service
-- alone has held both to it.
--
-- The release before works on this schema: it stores nothing longer. 0007 validates both constraints.

alter table integrations
  add constraint integrations_descriptor_length check (octet_length(descriptor::text) <= 16384) not valid,
  add constraint integrations_cursor_length check (char_length(cursor) <= 2048) not valid;
