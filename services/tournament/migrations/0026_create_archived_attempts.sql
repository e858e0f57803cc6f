-- What stays of an attempt once the month of its round was archived and deleted (decision 38): its
-- money, its result and who played, without metadata, evidence and receipt. Rounds, entries,
-- boards, payouts and seals stay as they are. A later migration brings the functions that move the
-- rows, and only they write these tables. Until they run, the tables stay empty.
--
-- The previous release reads none of these tables. It would not find an archived attempt, so no
-- month is deleted while a replica of it runs.

create table archived_attempts (
  id uuid not null,
  round_id uuid not null,
  entry_id uuid not null,
  account_id uuid not null,
  player_ref text not null,
  status text not null,
  fee_cents bigint not null,
  created_at timestamptz(3) not null,
  -- The id of the transfer that charged the fee derives from it.
  fee_generation integer not null,
  closed_reason text,
  -- The outcome of a settled attempt; null for every other.
  score double precision,
  tiebreak double precision,
  recorded_at timestamptz(3),
  receipt_id uuid,
  constraint archived_attempts_pkey primary key (id),
  constraint archived_attempts_receipt_id_key unique (receipt_id),
  -- An attempt that may still change is never archived.
  constraint archived_attempts_have_ended check (status in ('settled', 'expired', 'voided', 'refused')),
  constraint archived_attempts_settled_with_an_outcome
    check (num_nulls(score, recorded_at, receipt_id) = case status when 'settled' then 0 else 3 end),
  constraint archived_attempts_tiebreak_belongs_to_an_outcome check (tiebreak is null or status = 'settled'),
  constraint archived_attempts_score_is_finite check (score > '-Infinity' and score < 'Infinity'),
  constraint archived_attempts_tiebreak_is_finite check (tiebreak > '-Infinity' and tiebreak < 'Infinity'),
  constraint archived_attempts_fee_is_positive check (fee_cents > 0),
  constraint archived_attempts_fee_generation_is_not_negative check (fee_generation >= 0),
  constraint archived_attempts_player_ref_length check (char_length(player_ref) between 1 and 255),
  constraint archived_attempts_closed_with_a_reason check (
    case
      when status in ('voided', 'refused') then closed_reason is not null
      when status = 'expired' then closed_reason is null or closed_reason in ('round_closed', 'round_cancelled')
      else closed_reason is null
    end
  ),
  constraint archived_attempts_closed_reason_length check (char_length(closed_reason) between 1 and 1000)
);

-- An entry, which stays, is shown and audited with its attempts.
create index archived_attempts_by_player on archived_attempts (round_id, account_id);

create table archived_months (
  -- As 2026-01, in UTC.
  month text not null,
  -- The month has the rounds that closed from the first instant on and before the second.
  begins_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  manifest_sha256 bytea not null,
  -- What the rounds, attempts and payouts of the month add up to, as the manifest states it.
  totals jsonb not null,
  begun_at timestamptz(3) not null,
  -- Null while the month is being deleted.
  deleted_at timestamptz(3),
  constraint archived_months_pkey primary key (month),
  constraint archived_months_month_is_a_month check (month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
  constraint archived_months_instants_are_in_order check (begins_at < ends_at),
  constraint archived_months_manifest_sha256_length check (octet_length(manifest_sha256) = 32),
  constraint archived_months_deleted_after_they_begin check (deleted_at >= begun_at)
);

-- One transaction deletes one batch: the attempts of consecutive entries, by round and account, of
-- the rounds of the month.
create table archived_batches (
  -- The audit reads the batches in this order.
  id uuid not null default gen_random_uuid(),
  month text not null,
  number integer not null,
  -- The entries of the batch, from the first on and below the second.
  least_round_id uuid not null,
  least_account_id uuid not null,
  end_round_id uuid not null,
  end_account_id uuid not null,
  attempts integer not null,
  -- The SHA-256 of the lines of the batch in the archive.
  digest bytea not null,
  -- Null until the batch is deleted.
  deleted_at timestamptz(3),
  constraint archived_batches_pkey primary key (month, number),
  constraint archived_batches_month_fkey foreign key (month) references archived_months (month),
  constraint archived_batches_id_key unique (id),
  constraint archived_batches_least_entry_key unique (month, least_round_id, least_account_id),
  constraint archived_batches_number_is_positive check (number >= 1),
  constraint archived_batches_range_is_in_order
    check ((least_round_id, least_account_id) < (end_round_id, end_account_id)),
  constraint archived_batches_have_attempts check (attempts >= 1),
  constraint archived_batches_digest_length check (octet_length(digest) = 32)
);

-- Every attempt and every outcome, wherever it is kept. Moving a row is one transaction, so a
-- statement finds it exactly once. An archived attempt without an outcome has a row of nulls in
-- all_outcomes: with a condition there, PostgreSQL would not use the key of archived_attempts.
create view all_attempts as
select id, round_id, entry_id, account_id, player_ref, status, fee_cents, created_at, fee_generation, closed_reason
from attempts
union all
select id, round_id, entry_id, account_id, player_ref, status, fee_cents, created_at, fee_generation, closed_reason
from archived_attempts;

create view all_outcomes as
select attempt_id, receipt_id, score, tiebreak, recorded_at from outcomes
union all
select id, receipt_id, score, tiebreak, recorded_at from archived_attempts;
