-- Attempts. This table is the hot one: a row is inserted once and updated twice (pending -> open -> settled) within seconds.
--
-- Both updates touch `status` alone, and no index contains `status`, in its columns or in its predicate. So both stay heap-only
-- (HOT): no index is written again, and the dead versions go when the page is next read. That is what the fill factor leaves room for:
-- at 50 every update was heap-only under load, at 70 a third was not (measured).
-- A partial index `where status in (...)` for the sweeper would end that: a change of a predicate's column rewrites every index of
-- the row, five entries an attempt. A queue table of unsettled attempts would cost an insert and a delete each. Instead the sweepers
-- walk attempts_by_age, which only ever grows at its right end, from a mark below which everything is final (table sweep_marks):
-- each attempt is looked at once when its grace has passed and once when its hour has.

create table attempts (
  id uuid not null,
  -- Not a foreign key: every insert would lock the one row of a popular challenge. A trigger keeps challenges from being deleted.
  challenge_id uuid not null,
  -- The account that pays, or that the ref named when a free attempt was made; null for a free attempt of an unlinked ref.
  account_id uuid,
  player_ref text not null,
  status text not null,
  fee_cents bigint not null,
  prize_cents bigint not null,
  -- The bar, frozen. Null means a free attempt of a calibrating challenge.
  threshold double precision,
  -- The partner's object, as it was sent.
  metadata text not null,
  created_at timestamptz(3) not null,
  -- A score outside the plausible window was reported. The attempt takes no other; it waits for its hour.
  spoiled_at timestamptz(3),
  -- Raised when an abandoned attempt is begun again: the id of the fee's transfer that was fenced is burnt, and this makes the next.
  fee_generation integer not null default 0,
  -- The code of a refused attempt, or 'abandoned'; the operator's reason of a voided one.
  closed_reason text,
  constraint attempts_pkey primary key (id),
  constraint attempts_status_is_known
    check (status in ('pending', 'open', 'settled', 'expiring', 'expired', 'voiding', 'voided', 'refused')),
  constraint attempts_fee_is_not_negative check (fee_cents >= 0),
  constraint attempts_prize_is_not_negative check (prize_cents >= 0),
  constraint attempts_free_without_bar check ((fee_cents = 0) = (threshold is null) and (prize_cents = 0) = (threshold is null)),
  constraint attempts_threshold_is_finite check (threshold > '-Infinity' and threshold < 'Infinity'),
  constraint attempts_paid_by_an_account check (fee_cents = 0 or account_id is not null),
  -- A free attempt has no fee to wait for and none to return.
  constraint attempts_only_fees_are_awaited check (fee_cents > 0 or status not in ('pending', 'expiring', 'voiding', 'refused')),
  constraint attempts_fee_generation_is_not_negative check (fee_generation >= 0),
  constraint attempts_player_ref_length check (char_length(player_ref) between 1 and 255),
  constraint attempts_metadata_is_an_object check (metadata is json object),
  constraint attempts_spoiled_never_settles check (spoiled_at is null or status not in ('pending', 'settled', 'refused')),
  constraint attempts_closed_with_a_reason check ((status in ('voiding', 'voided', 'refused')) = (closed_reason is not null))
)
with (fillfactor = 50);

-- The daily cap of one player on one challenge.
create index attempts_by_player on attempts (challenge_id, account_id, created_at);

-- The sweepers' order.
create index attempts_by_age on attempts (created_at);

-- Fees to be returned: written in the commit that ends an attempt, removed in the commit that records the refund. Few and short-lived,
-- so this queue is cheaper than an index on the hot table's status.
create table refunds_due (
  attempt_id uuid not null,
  since timestamptz(3) not null,
  constraint refunds_due_pkey primary key (attempt_id),
  constraint refunds_due_attempt_id_fkey foreign key (attempt_id) references attempts (id)
);

-- How far each sweep has come: every attempt created before `swept_until` is done with, as far as that sweep is concerned.
create table sweep_marks (
  sweep text not null,
  swept_until timestamptz(3) not null,
  constraint sweep_marks_pkey primary key (sweep),
  constraint sweep_marks_sweep_is_known check (sweep in ('resolve_pending', 'expire_attempts'))
);
