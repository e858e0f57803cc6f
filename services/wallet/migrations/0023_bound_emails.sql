-- An e-mail address has at most 254 characters (RFC 5321), as the API has always had it for new accounts;
-- the wallet and its database took 320 beside it (libs/limits).
--
-- The release before works on this schema: it makes accounts for the gateway alone, which takes no longer
-- address. 0024 validates both constraints.

alter table accounts
  drop constraint accounts_email_is_lower_case,
  add constraint accounts_email_is_lower_case check (email = lower(email)) not valid,
  add constraint accounts_email_length check (char_length(email) between 3 and 254) not valid;
