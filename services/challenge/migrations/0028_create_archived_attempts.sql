-- What stays of an attempt whose month was archived and deleted (decision 38): its money, its
-- result and who played, without metadata, evidence and receipt. A later migration brings the
-- functions that move the rows, and only they write these tables. Until they run, the tables stay
-- empty.
--
-- The previous release reads none of these tables and writes awards as before. It would not find an
-- archived attempt, so no month is deleted while a replica of it runs.

create table archived_attempts (
  id uuid not null,
  challenge_id uuid not null,
  account_id uuid,
  player_ref text not null,
  status text not null,
  fee_cents bigint not null,
  prize_cents bigint not null,
  threshold double precision,
  created_at timestamptz(3) not null,
  -- The id of the transfer that charged the fee derives from it.
  fee_generation integer not null,
  closed_reason text,
  -- The outcome of a settled attempt; null for every other.
  score double precision,
  met_threshold boolean,
  recorded_at timestamptz(3),
  receipt_id uuid,
  constraint archived_attempts_pkey primary key (id),
  constraint archived_attempts_receipt_id_key unique (receipt_id),
  -- An attempt that may still change is never archived.
  constraint archived_attempts_have_ended check (status in ('settled', 'expired', 'voided', 'refused')),
  constraint archived_attempts_settled_with_an_outcome
    check (num_nulls(score, met_threshold, recorded_at, receipt_id) = case status when 'settled' then 0 else 4 end),
  constraint archived_attempts_score_is_finite check (score > '-Infinity' and score < 'Infinity'),
  constraint archived_attempts_fee_is_not_negative check (fee_cents >= 0),
  constraint archived_attempts_prize_is_not_negative check (prize_cents >= 0),
  constraint archived_attempts_free_without_bar
    check ((fee_cents = 0) = (threshold is null) and (prize_cents = 0) = (threshold is null)),
  constraint archived_attempts_threshold_is_finite check (threshold > '-Infinity' and threshold < 'Infinity'),
  constraint archived_attempts_paid_by_an_account check (fee_cents = 0 or account_id is not null),
  constraint archived_attempts_refused_with_a_fee check (fee_cents > 0 or status <> 'refused'),
  constraint archived_attempts_fee_generation_is_not_negative check (fee_generation >= 0),
  constraint archived_attempts_player_ref_length check (char_length(player_ref) between 1 and 255),
  constraint archived_attempts_closed_with_a_reason
    check ((status in ('voided', 'refused')) = (closed_reason is not null)),
  constraint archived_attempts_closed_reason_length check (char_length(closed_reason) between 1 and 1000)
);

create table archived_months (
  -- As 2026-01, in UTC.
  month text not null,
  -- The ids of the month, from the first on and below the second.
  least_id uuid not null,
  end_id uuid not null,
  manifest_sha256 bytea not null,
  -- What the attempts and awards of the month add up to, as the manifest states it.
  totals jsonb not null,
  begun_at timestamptz(3) not null,
  -- Null while the month is being deleted.
  deleted_at timestamptz(3),
  constraint archived_months_pkey primary key (month),
  constraint archived_months_month_is_a_month check (month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
  constraint archived_months_range_is_in_order check (least_id < end_id),
  constraint archived_months_manifest_sha256_length check (octet_length(manifest_sha256) = 32),
  constraint archived_months_deleted_after_they_begin check (deleted_at >= begun_at)
);

-- One transaction deletes one batch.
create table archived_batches (
  month text not null,
  number integer not null,
  -- The ids of the batch, from the first on and below the second.
  least_id uuid not null,
  end_id uuid not null,
  attempts integer not null,
  -- The SHA-256 of the lines of the batch in the archive.
  digest bytea not null,
  -- Null until the batch is deleted.
  deleted_at timestamptz(3),
  constraint archived_batches_pkey primary key (month, number),
  constraint archived_batches_month_fkey foreign key (month) references archived_months (month),
  -- The audit reads the batches in this order.
  constraint archived_batches_least_id_key unique (least_id),
  constraint archived_batches_number_is_positive check (number >= 1),
  constraint archived_batches_range_is_in_order check (least_id < end_id),
  constraint archived_batches_have_attempts check (attempts >= 1),
  constraint archived_batches_digest_length check (octet_length(digest) = 32)
);

-- Every attempt and every outcome, wherever it is kept. Moving a row is one transaction, so a
-- statement finds it exactly once. An archived attempt without an outcome has a row of nulls in
-- all_outcomes: with a condition there, PostgreSQL would not use the key of archived_attempts.
create view all_attempts as
select id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, created_at, fee_generation, closed_reason
from attempts
union all
select id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, created_at, fee_generation, closed_reason
from archived_attempts;

create view all_outcomes as
select attempt_id, receipt_id, score, met_threshold, recorded_at from outcomes
union all
select id, receipt_id, score, met_threshold, recorded_at from archived_attempts;

-- An award stays when its attempt is archived. The other foreign keys to attempts stay: an outcome
-- leaves with its attempt, and an attempt with a row in refunds_due or ramp_slots is still in use.
alter table awards drop constraint awards_attempt_id_fkey;
