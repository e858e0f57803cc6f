-- Outcomes with their signed receipts, and what is counted of a board.

-- The public keys that receipts and seals were ever signed with, so that both stay verifiable after the seed has changed.
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
  -- The value that counts on the board; null where the tournament declares no tiebreak.
  tiebreak double precision,
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
  constraint outcomes_tiebreak_is_finite check (tiebreak > '-Infinity' and tiebreak < 'Infinity'),
  constraint outcomes_signature_length check (octet_length(signature) = 64)
);

-- What is counted of a round, changed once a batch in the commit that makes it so. Locking this row is the lock on the round's board:
-- whoever writes scores, or ends the round, takes it (several in the order of their ids) after rows of attempts and before rows of
-- entries. Hence the fill factor: the row is updated all the time, and room on its page keeps that heap-only.
create table round_tallies (
  round_id uuid not null,
  -- Accounts of which an entry fee was ever posted, refunded later or not.
  entrants integer not null,
  -- Entries with a best run.
  scored_players integer not null,
  scored_attempts integer not null,
  constraint round_tallies_pkey primary key (round_id),
  constraint round_tallies_round_id_fkey foreign key (round_id) references rounds (id),
  constraint round_tallies_are_nested
    check (0 <= scored_players and scored_players <= entrants and scored_players <= scored_attempts)
)
with (fillfactor = 20);

-- The board of a round, cut into runs of consecutive places: where each begins, and how many entries lie in it until the next one
-- begins. A rank is the sum of the chunks before, and a count within one. The first chunk of a round begins at the empty place; it is
-- inserted with the round. Rows change under the round's lock alone, so the counts are exact in every snapshot. `entries` is in no
-- index, so that counting stays heap-only.
create table board_chunks (
  round_id uuid not null,
  lower_place bytea not null,
  entries integer not null,
  constraint board_chunks_pkey primary key (round_id, lower_place),
  constraint board_chunks_round_id_fkey foreign key (round_id) references rounds (id),
  constraint board_chunks_begin_at_a_place check (octet_length(lower_place) in (0, 39)),
  constraint board_chunks_entries_are_not_negative check (entries >= 0)
)
with (fillfactor = 50);
