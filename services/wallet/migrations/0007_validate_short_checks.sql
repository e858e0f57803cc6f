-- Reads the tables once under a lock that lets reads and writes go on, which 0006 could not do in its own transaction.

alter table ledger_accounts
  validate constraint ledger_accounts_kind_is_known,
  validate constraint ledger_accounts_environment_is_known,
  validate constraint ledger_accounts_only_the_house_overdraws,
  validate constraint ledger_accounts_hold_is_sandbox_only;

alter table transfers
  validate constraint transfers_state_is_known,
  validate constraint transfers_kind_is_known,
  validate constraint transfers_environment_is_known,
  validate constraint transfers_refusal_only_when_fenced,
  validate constraint transfers_refund_has_attempt_and_reason,
  validate constraint transfers_award_names_its_award,
  validate constraint transfers_legs_follow_kind;
