-- A self-exclusion could be stored that ends in the year 10000. Whoever read it got no instant, every
-- rule that compared it failed open, and the excluded person could pay. The end now lies between
-- 1900-01-01 and 9999-01-01 UTC, and the date of birth of an account in the same bounds.
--
-- An exclusion that ends later stays one: it ends at the bound instead.
--
-- The release before works on this schema. It still takes such an end from an operator, and then
-- answers 500 and stores nothing. 0018 validates both constraints.

alter table accounts
  add constraint accounts_self_exclusion_ends_within_bounds
    check (self_excluded_until between '1900-01-01T00:00:00Z' and '9999-01-01T00:00:00Z') not valid,
  add constraint accounts_date_of_birth_is_within_bounds
    check (date_of_birth between '1900-01-01' and '9999-01-01') not valid;

update accounts
set self_excluded_until = least(greatest(self_excluded_until, '1900-01-01T00:00:00Z'), '9999-01-01T00:00:00Z')
where self_excluded_until not between '1900-01-01T00:00:00Z' and '9999-01-01T00:00:00Z';
