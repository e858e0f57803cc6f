-- The ledger: append-only transfers, each one a balanced double entry, and the balance that they leave on every account.

create table ledger_accounts (
  -- A player's id derives from (account, environment), so that a batch locks the rows before it has read anything.
  id uuid not null,
  kind text not null,
  environment text not null,
  account_id uuid,
  balance_cents bigint not null default 0,
  may_overdraw boolean not null default false,
  -- Sandbox switch: the next award of this player is held. Lives here because an award already holds this row's lock.
  hold_next_award boolean not null default false,
  constraint ledger_accounts_pkey primary key (id),
  constraint ledger_accounts_account_id_fkey foreign key (account_id) references accounts (id),
  constraint ledger_accounts_account_environment_key unique (account_id, environment),
  constraint ledger_accounts_kind_is_known check (kind in ('player', 'house_fees', 'house_prizes', 'external_cash')),
  constraint ledger_accounts_environment_is_known check (environment in ('test', 'live')),
  constraint ledger_accounts_player_has_account check ((kind = 'player') = (account_id is not null)),
  constraint ledger_accounts_only_the_house_overdraws check (may_overdraw = (kind <> 'player')),
  constraint ledger_accounts_never_overdrawn check (may_overdraw or balance_cents >= 0),
  constraint ledger_accounts_hold_is_sandbox_only check (not hold_next_award or (kind = 'player' and environment = 'test'))
)
-- Balances change all the time and no indexed column does: room on the page keeps every update heap-only.
with (fillfactor = 50);

create unique index ledger_accounts_one_house_account_per_kind on ledger_accounts (kind, environment) where kind <> 'player';

-- The house's accounts have fixed ids (src/domain/ledger.ts holds the same ones), so that constraints can name them.
insert into ledger_accounts (id, kind, environment, may_overdraw) values
  ('00000000-0000-8000-8000-000000000011', 'house_fees', 'test', true),
  ('00000000-0000-8000-8000-000000000012', 'house_prizes', 'test', true),
  ('00000000-0000-8000-8000-000000000013', 'external_cash', 'test', true),
  ('00000000-0000-8000-8000-000000000021', 'house_fees', 'live', true),
  ('00000000-0000-8000-8000-000000000022', 'house_prizes', 'live', true),
  ('00000000-0000-8000-8000-000000000023', 'external_cash', 'live', true);

create table transfers (
  id uuid not null,
  -- 'posted' moved money. 'fenced' burns the id of a fee that was refused or given up: nothing can be posted under it any more.
  state text not null,
  kind text not null,
  environment text,
  debit_id uuid,
  credit_id uuid,
  amount_cents bigint,
  player_ledger_id uuid,
  player_balance_after_cents bigint,
  -- Grows with every transfer of one player, because it is drawn under the lock on the player's row.
  seq bigint generated always as identity,
  attempt_id uuid,
  fee_transfer_id uuid,
  award_id uuid,
  reference text,
  reason text,
  -- The refusal that burnt a fenced id; null when the attempt was given up unheard.
  refusal_code text,
  created_at timestamptz(3) not null,
  constraint transfers_pkey primary key (id),
  -- The only foreign key: a key-share lock on the one hot house row, taken for every transfer, would cost more than the
  -- transfer itself. The house's leg is held by transfers_legs_follow_kind instead.
  constraint transfers_player_ledger_id_fkey foreign key (player_ledger_id) references ledger_accounts (id),
  constraint transfers_state_is_known check (state in ('posted', 'fenced')),
  constraint transfers_kind_is_known check (kind in ('fee', 'refund', 'award', 'deposit')),
  constraint transfers_environment_is_known check (environment in ('test', 'live')),
  constraint transfers_amount_is_positive check (amount_cents > 0),
  constraint transfers_player_never_below_zero check (player_balance_after_cents >= 0),
  constraint transfers_posted_is_complete check (
    state <> 'posted'
    or num_nulls(environment, debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents) = 0
  ),
  constraint transfers_fenced_moves_nothing check (
    state <> 'fenced'
    or (kind = 'fee' and num_nonnulls(debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents) = 0)
  ),
  constraint transfers_refusal_only_when_fenced check (
    refusal_code is null or (state = 'fenced' and refusal_code in ('blocked', 'insider_entry', 'insufficient_funds'))
  ),
  -- One leg is the player's, the other is the house account of that kind and environment: no other pair exists.
  constraint transfers_legs_follow_kind check (
    state <> 'posted'
    or case kind
      when 'fee' then debit_id = player_ledger_id and credit_id = case environment
        when 'test' then '00000000-0000-8000-8000-000000000011'::uuid else '00000000-0000-8000-8000-000000000021'::uuid end
      when 'refund' then credit_id = player_ledger_id and debit_id = case environment
        when 'test' then '00000000-0000-8000-8000-000000000011'::uuid else '00000000-0000-8000-8000-000000000021'::uuid end
      when 'award' then credit_id = player_ledger_id and debit_id = case environment
        when 'test' then '00000000-0000-8000-8000-000000000012'::uuid else '00000000-0000-8000-8000-000000000022'::uuid end
      when 'deposit' then credit_id = player_ledger_id and debit_id = case environment
        when 'test' then '00000000-0000-8000-8000-000000000013'::uuid else '00000000-0000-8000-8000-000000000023'::uuid end
    end
  ),
  constraint transfers_fee_names_its_attempt check (state <> 'posted' or kind <> 'fee' or attempt_id is not null),
  constraint transfers_refund_names_its_fee check ((kind = 'refund') = (fee_transfer_id is not null)),
  constraint transfers_refund_has_attempt_and_reason check (
    kind <> 'refund' or (attempt_id is not null and reason in ('expired', 'round_closed', 'round_cancelled', 'voided'))
  ),
  constraint transfers_award_names_its_award check ((kind = 'award') = (award_id is not null)),
  constraint transfers_deposit_has_reference check (
    (kind = 'deposit') = (reference is not null) and (reference is null or length(reference) between 1 and 255)
  )
);

create unique index transfers_one_fee_per_attempt on transfers (attempt_id) where kind = 'fee' and state = 'posted';
create unique index transfers_one_refund_per_fee on transfers (fee_transfer_id) where kind = 'refund';
create unique index transfers_one_transfer_per_award on transfers (award_id) where kind = 'award';
create unique index transfers_one_deposit_per_reference on transfers (player_ledger_id, reference) where kind = 'deposit';

-- A statement is one range of this index, newest first.
create index transfers_statement_idx on transfers (player_ledger_id, seq desc) where state = 'posted';

create function transfers_refuse_change() returns trigger
  language plpgsql
as $$
begin
  raise exception 'transfers are append-only: % refused', lower(tg_op) using errcode = 'integrity_constraint_violation';
end
$$;

create trigger transfers_append_only
  before update or delete or truncate on transfers
  for each statement execute function transfers_refuse_change();
