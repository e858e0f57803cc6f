-- Entries and attempts.

-- One account in one round, however many of its refs play, with the best of its runs.
--
-- Only `place` is in an index of its own, so only a better run writes the indexes again; a first purchase and the final rank stay
-- heap-only where their page has room, which the fill factor leaves.
create table entries (
  id uuid not null,
  round_id uuid not null,
  account_id uuid not null,
  created_at timestamptz(3) not null,
  -- When a fee of it was first known to be posted. Until then nobody has entered.
  bought_at timestamptz(3),
  -- The best run: better score, then better tiebreak, then earlier. Null until there is one.
  best_attempt_id uuid,
  best_score double precision,
  best_tiebreak double precision,
  best_score_at timestamptz(3),
  -- The ref that played it, which the board shows.
  best_player_ref text,
  -- The order of the board as bytes, smaller is better (domain/board-place.ts): score, tiebreak, instant, entry id.
  place bytea,
  -- Decided when the round settles; null for ever where it is cancelled.
  final_rank integer,
  payout_cents bigint,
  constraint entries_pkey primary key (id),
  constraint entries_one_per_round_and_account unique (round_id, account_id),
  constraint entries_best_run_is_complete
    check (num_nonnulls(best_attempt_id, best_score, best_score_at, best_player_ref, place) in (0, 5)),
  constraint entries_tiebreak_belongs_to_a_run check (best_tiebreak is null or place is not null),
  -- 'NaN' sorts above 'Infinity' in PostgreSQL, so these bounds exclude all that is not finite.
  constraint entries_best_score_is_finite check (best_score > '-Infinity' and best_score < 'Infinity'),
  constraint entries_best_tiebreak_is_finite check (best_tiebreak > '-Infinity' and best_tiebreak < 'Infinity'),
  -- So that no two entries share a place.
  constraint entries_place_ends_with_the_entry check (octet_length(place) = 39 and substring(place from 24) = uuid_send(id)),
  constraint entries_with_a_run_were_bought check (place is null or bought_at is not null),
  constraint entries_rank_and_payout_are_decided_together check ((final_rank is null) = (payout_cents is null)),
  constraint entries_with_a_rank_have_a_run check (final_rank is null or place is not null),
  constraint entries_final_rank_is_positive check (final_rank >= 1),
  constraint entries_payout_is_not_negative check (payout_cents >= 0)
)
with (fillfactor = 50);

-- The board of each round, in its order.
create unique index entries_by_place on entries (round_id, place) where place is not null;

-- Which account a ref stands for in a round: the one that its newest attempt belongs to.
create table entry_refs (
  round_id uuid not null,
  player_ref text not null,
  account_id uuid not null,
  constraint entry_refs_pkey primary key (round_id, player_ref),
  constraint entry_refs_player_ref_length check (char_length(player_ref) between 1 and 255)
);

-- The columns that libs/money-path knows are the same as in the challenge service, and so are the reasons: a row is inserted once and
-- updated twice (pending -> open -> settled), on `status` alone. No index contains `status`, so both updates stay heap-only, for which
-- the fill factor leaves room; and the sweepers walk attempts_by_age from a mark instead of an index on what is unsettled.
create table attempts (
  id uuid not null,
  -- Not a foreign key: every insert would lock the one row of a popular round. A trigger keeps rounds from being deleted.
  round_id uuid not null,
  entry_id uuid not null,
  -- The account that pays. The same as the entry's.
  account_id uuid not null,
  player_ref text not null,
  status text not null,
  fee_cents bigint not null,
  -- The partner's object, as it was sent.
  metadata text not null,
  created_at timestamptz(3) not null,
  -- Raised when an abandoned attempt is begun again: the id of the fee's transfer that was fenced is burnt, and this makes the next.
  fee_generation integer not null default 0,
  -- The code of a refused attempt, or 'abandoned'; the operator's reason of a voided one; of one that the end of its round ended,
  -- how the round ended.
  closed_reason text,
  constraint attempts_pkey primary key (id),
  constraint attempts_entry_id_fkey foreign key (entry_id) references entries (id),
  constraint attempts_status_is_known
    check (status in ('pending', 'open', 'settled', 'expiring', 'expired', 'voiding', 'voided', 'refused')),
  constraint attempts_fee_is_positive check (fee_cents > 0),
  constraint attempts_fee_generation_is_not_negative check (fee_generation >= 0),
  constraint attempts_player_ref_length check (char_length(player_ref) between 1 and 255),
  constraint attempts_metadata_is_an_object check (metadata is json object),
  constraint attempts_closed_with_a_reason check (
    case
      when status in ('voiding', 'voided', 'refused') then closed_reason is not null
      when status in ('expiring', 'expired') then closed_reason is null or closed_reason in ('round_closed', 'round_cancelled')
      else closed_reason is null
    end
  )
)
with (fillfactor = 50);

-- The cap of one player in one round, and all attempts of a round.
create index attempts_by_player on attempts (round_id, account_id, created_at);

-- The sweepers' order.
create index attempts_by_age on attempts (created_at);

-- Fees to be returned: written in the commit that decides so, removed in the commit that records the refund. The attempts of a cancelled
-- round that have a score are queued too, and stay `settled`.
create table refunds_due (
  attempt_id uuid not null,
  since timestamptz(3) not null,
  -- What the sweepers of libs/money-path end without a word has expired.
  reason text not null default 'expired',
  constraint refunds_due_pkey primary key (attempt_id),
  constraint refunds_due_attempt_id_fkey foreign key (attempt_id) references attempts (id),
  constraint refunds_due_reason_is_known check (reason in ('expired', 'voided', 'round_closed', 'round_cancelled'))
);

-- A cancelled round queues all its fees at once, and they go back page by page, oldest first.
create index refunds_due_by_age on refunds_due (since, attempt_id);

-- How far each sweep has come: every attempt created before `swept_until` is done with, as far as that sweep is concerned.
create table sweep_marks (
  sweep text not null,
  swept_until timestamptz(3) not null,
  constraint sweep_marks_pkey primary key (sweep),
  constraint sweep_marks_sweep_is_known check (sweep in ('resolve_pending', 'expire_attempts'))
);
