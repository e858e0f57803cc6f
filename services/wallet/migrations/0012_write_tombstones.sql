-- A transfer id that was refused or abandoned has the state 'tombstone'. Transfers are append-only, so the tombstones of before keep theirs,
-- 'fenced', and every reader takes whatever is not 'posted' for a tombstone. The wallet of the release before does not run on this schema:
-- the database refuses its tombstones, and it takes a newer one for a posted fee. Stop it before this migration.

alter table transfers
  drop constraint transfers_state_is_known,
  drop constraint transfers_fenced_moves_nothing,
  drop constraint transfers_refusal_only_when_fenced,
  -- Holds for every row from now on. It is never validated: the older tombstones break it, and are kept.
  add constraint transfers_state_is_known check (state = any ('{posted,tombstone}'::text[])) not valid,
  -- 0013 validates the other two, which hold for tombstones of either state.
  add constraint transfers_tombstone_moves_nothing check (
    state = 'posted'
    or (kind = 'fee' and num_nonnulls(debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents) = 0)
  ) not valid,
  add constraint transfers_refusal_only_on_tombstone check (
    refusal_code is null
    or (state <> 'posted' and refusal_code = any ('{blocked,insider_entry,insufficient_funds}'::text[]))
  ) not valid;
