-- Reads the tables once under a lock that lets reads and writes go on, which 0004 could not do in its own transaction.

alter table ledger_accounts validate constraint ledger_accounts_kind_is_known;

alter table transfers
  validate constraint transfers_kind_is_known,
  validate constraint transfers_legs_follow_kind,
  validate constraint transfers_award_names_its_award,
  validate constraint transfers_purse_names_its_round;

alter table payouts validate constraint payouts_name_attempt_or_round;
