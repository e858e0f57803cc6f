-- Reads the tables once under a lock that lets reads and writes go on, which 0009 could not do in its own transaction.

alter table accounts validate constraint accounts_house_id_fkey;

alter table player_links
  validate constraint player_links_house_follows_environment,
  validate constraint player_links_never_severed,
  validate constraint player_links_person_plays_with_the_house,
  validate constraint player_links_pair_is_not_severed;

alter table ledger_accounts validate constraint ledger_accounts_house_is_of_the_environment;

alter table transfers
  validate constraint transfers_legs_follow_kind,
  validate constraint transfers_deposit_within_cap;
