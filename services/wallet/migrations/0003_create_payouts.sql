-- What was decided about each award: paid at once, or held for review and then released or denied.

create table payouts (
  award_id uuid not null,
  attempt_id uuid not null,
  program_id uuid not null,
  environment text not null,
  account_id uuid not null,
  amount_cents bigint not null,
  status text not null,
  -- Why it was held; stays after a release or a denial, as the record of the review.
  reason text,
  transfer_id uuid,
  created_at timestamptz(3) not null,
  paid_at timestamptz(3),
  denied_at timestamptz(3),
  constraint payouts_pkey primary key (award_id),
  constraint payouts_account_id_fkey foreign key (account_id) references accounts (id),
  -- Checked at commit: the payout is written before the transfer, because the transfer's statement locks the house row last.
  constraint payouts_transfer_id_fkey foreign key (transfer_id) references transfers (id) deferrable initially deferred,
  constraint payouts_attempt_id_key unique (attempt_id),
  constraint payouts_environment_is_known check (environment in ('test', 'live')),
  constraint payouts_amount_is_positive check (amount_cents > 0),
  constraint payouts_status_is_known check (status in ('paid', 'held', 'denied')),
  constraint payouts_reason_is_known check (reason in ('enforcement_flag', 'under_investigation', 'payout_velocity', 'sandbox_hold')),
  constraint payouts_withheld_says_why check (status = 'paid' or reason is not null),
  constraint payouts_paid_iff_money_moved check ((status = 'paid') = (transfer_id is not null) and (status = 'paid') = (paid_at is not null)),
  constraint payouts_denied_iff_denied_at check ((status = 'denied') = (denied_at is not null))
);

-- Payout velocity reads the count and the sum of an account's last 24 hours from the index alone.
create index payouts_velocity_idx on payouts (account_id, environment, paid_at) include (amount_cents) where status = 'paid';

-- The operator's list, newest first, with and without a status.
create index payouts_newest_idx on payouts (created_at desc, award_id desc);
create index payouts_newest_by_status_idx on payouts (status, created_at desc, award_id desc);
