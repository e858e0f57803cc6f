-- A round's purse: paid by rank out of a house account of its own, by the same path as a challenge's award.
-- Every constraint that is replaced here allows more than before; 0005 validates them without blocking anybody.

alter table ledger_accounts
  drop constraint ledger_accounts_kind_is_known,
  add constraint ledger_accounts_kind_is_known
    check (kind in ('player', 'house_fees', 'house_prizes', 'house_purses', 'external_cash')) not valid;

insert into ledger_accounts (id, kind, environment, may_overdraw) values
  ('00000000-0000-8000-8000-000000000014', 'house_purses', 'test', true),
  ('00000000-0000-8000-8000-000000000024', 'house_purses', 'live', true);

alter table transfers
  -- The round whose purse a transfer pays out of; null for every other kind.
  add column round_id uuid,
  drop constraint transfers_kind_is_known,
  drop constraint transfers_legs_follow_kind,
  drop constraint transfers_award_names_its_award,
  add constraint transfers_kind_is_known check (kind in ('fee', 'refund', 'award', 'purse', 'deposit')) not valid,
  -- One leg is the player's, the other is the house account of that kind and environment: no other pair exists.
  add constraint transfers_legs_follow_kind check (
    state <> 'posted'
    or case kind
      when 'fee' then debit_id = player_ledger_id and credit_id = case environment
        when 'test' then '00000000-0000-8000-8000-000000000011'::uuid else '00000000-0000-8000-8000-000000000021'::uuid end
      when 'refund' then credit_id = player_ledger_id and debit_id = case environment
        when 'test' then '00000000-0000-8000-8000-000000000011'::uuid else '00000000-0000-8000-8000-000000000021'::uuid end
      when 'award' then credit_id = player_ledger_id and debit_id = case environment
        when 'test' then '00000000-0000-8000-8000-000000000012'::uuid else '00000000-0000-8000-8000-000000000022'::uuid end
      when 'purse' then credit_id = player_ledger_id and debit_id = case environment
        when 'test' then '00000000-0000-8000-8000-000000000014'::uuid else '00000000-0000-8000-8000-000000000024'::uuid end
      when 'deposit' then credit_id = player_ledger_id and debit_id = case environment
        when 'test' then '00000000-0000-8000-8000-000000000013'::uuid else '00000000-0000-8000-8000-000000000023'::uuid end
    end
  ) not valid,
  add constraint transfers_award_names_its_award check ((kind in ('award', 'purse')) = (award_id is not null)) not valid,
  add constraint transfers_purse_names_its_round check (
    (kind = 'purse') = (round_id is not null) and (kind <> 'purse' or attempt_id is null)
  ) not valid;

-- Under the same name and wider: an award id is paid once, be it as an award or as a purse. The table waits for one pass over it,
-- 0.2 s for a million transfers: each migration is one transaction, which rules `concurrently` out.
-- squawk-ignore require-concurrent-index-deletion
drop index transfers_one_transfer_per_award;
-- squawk-ignore require-concurrent-index-creation
create unique index transfers_one_transfer_per_award on transfers (award_id) where award_id is not null;

alter table payouts
  -- A wallet from before this file cannot present a purse, and none is paid before the tournament service runs.
  -- squawk-ignore ban-drop-not-null
  alter column attempt_id drop not null,
  -- The round whose purse this pays out of; null for a challenge's award.
  add column round_id uuid,
  add constraint payouts_name_attempt_or_round check (num_nonnulls(attempt_id, round_id) = 1) not valid;
