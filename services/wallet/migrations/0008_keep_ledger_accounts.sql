-- Accounts of the ledger are never deleted. What posts a transfer adds to the house's rows and does not look whether they are there:
-- without one, money would leave players and arrive nowhere. A trigger that fires on deletes alone costs the writers of balances nothing.

create function ledger_accounts_refuse_removal() returns trigger
  language plpgsql
as $$
begin
  raise exception 'accounts of the ledger are kept: % refused', lower(tg_op) using errcode = 'integrity_constraint_violation';
end
$$;

create trigger ledger_accounts_are_kept
  before delete or truncate on ledger_accounts
  for each statement execute function ledger_accounts_refuse_removal();
