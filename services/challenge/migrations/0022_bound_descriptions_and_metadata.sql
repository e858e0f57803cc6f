-- A description has at most 2,000 characters, as the API has always had it; the service took 9,999 beside
-- it (libs/limits). The metadata of an attempt has at most 16 KiB, which the gateway alone has held it to
-- (libs/attempts/src/domain/sent-objects.ts).
--
-- The release before works on this schema: all that reaches it has come through the gateway, within these
-- bounds. 0023 validates them.

alter table challenges
  drop constraint challenges_description_length,
  add constraint challenges_description_length check (char_length(description) <= 2000) not valid;

alter table attempts
  add constraint attempts_metadata_length check (octet_length(metadata) <= 16384) not valid;
