-- Outcomes with their signed receipts, the prizes won, and the scores that a bar is read off.

-- The public keys that receipts were ever signed with, so that a receipt stays verifiable after the seed has changed.
create table signing_keys (
  id integer generated always as identity,
  public_key bytea not null,
  created_at timestamptz(3) not null default now(),
  constraint signing_keys_pkey primary key (id),
  constraint signing_keys_public_key_key unique (public_key)
);

create table outcomes (
  attempt_id uuid not null,
  -- Derives from the operation id. The same receipt id again is the same operation again.
  receipt_id uuid not null,
  score double precision not null,
  met_threshold boolean not null,
  recorded_at timestamptz(3) not null,
  -- The canonical JSON that was signed, byte for byte; it holds the evidence.
  receipt text not null,
  signature bytea not null,
  -- Not a foreign key: every insert would lock the one row of the current key. Keys are never deleted.
  signing_key_id integer not null,
  constraint outcomes_pkey primary key (attempt_id),
  constraint outcomes_attempt_id_fkey foreign key (attempt_id) references attempts (id),
  constraint outcomes_receipt_id_key unique (receipt_id),
  constraint outcomes_score_is_finite check (score > '-Infinity' and score < 'Infinity'),
  constraint outcomes_signature_length check (octet_length(signature) = 64)
);

-- The claims: an award of any status has claimed the prize of its challenge for its account, for life.
create table awards (
  id uuid not null,
  attempt_id uuid not null,
  challenge_id uuid not null,
  account_id uuid not null,
  amount_cents bigint not null,
  -- 'paying', 'releasing' and 'denying' lie between this database's commit and the wallet's; they only roll forward.
  status text not null,
  created_at timestamptz(3) not null,
  paid_at timestamptz(3),
  constraint awards_pkey primary key (id),
  constraint awards_attempt_id_fkey foreign key (attempt_id) references attempts (id),
  constraint awards_one_per_attempt unique (attempt_id),
  constraint awards_one_per_challenge_and_account unique (challenge_id, account_id),
  constraint awards_amount_is_positive check (amount_cents > 0),
  constraint awards_status_is_known check (status in ('paying', 'paid', 'held', 'releasing', 'denying', 'denied')),
  constraint awards_paid_at_follows_status check ((status = 'paid') = (paid_at is not null))
);

-- Wins are few, so here the sweeper's index may cost an update its heap-only way.
create index awards_unfinished on awards (created_at) where status in ('paying', 'releasing', 'denying');

-- Scores that decide a bar: those of calibrating challenges, and every score of a top_n challenge.
create table bar_samples (
  challenge_id uuid not null,
  attempt_id uuid not null,
  -- `account:<id>`, or `ref:<player_ref>` for an unlinked ref: a player is an account, however many refs it has.
  player text not null,
  score double precision not null,
  constraint bar_samples_pkey primary key (challenge_id, attempt_id),
  constraint bar_samples_score_is_finite check (score > '-Infinity' and score < 'Infinity')
);

-- The n-th best score in either direction.
create index bar_samples_by_score on bar_samples (challenge_id, score);
