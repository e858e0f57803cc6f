-- The lists of accounts that operators read: the accounts of a program's sandbox, and those with a
-- flag, newest first. Ids sort by time.
--
-- An account changes rarely, and no fee or payout writes its row. While an index is built, accounts
-- cannot be created or changed; fees and payouts only lock their rows, and continue. The previous
-- release does not need the indexes.

-- Each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-creation
create index accounts_of_house on accounts (house_id, id);

-- squawk-ignore require-concurrent-index-creation
create index accounts_flagged on accounts (id)
  where enforcement_flag or under_investigation or blocked or self_excluded_until is not null;
