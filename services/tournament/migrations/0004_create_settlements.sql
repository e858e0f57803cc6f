-- What a round's end decides: who is paid what, and the seal over all of it.

create table round_payouts (
  -- Derives from the round and the rank, so that settling again pays the same award.
  award_id uuid not null,
  round_id uuid not null,
  entry_id uuid not null,
  account_id uuid not null,
  final_rank integer not null,
  amount_cents bigint not null,
  -- 'paying', 'releasing' and 'denying' lie between this database's commit and the wallet's; they only roll forward.
  status text not null,
  created_at timestamptz(3) not null,
  paid_at timestamptz(3),
  constraint round_payouts_pkey primary key (award_id),
  constraint round_payouts_round_id_fkey foreign key (round_id) references rounds (id),
  constraint round_payouts_entry_id_fkey foreign key (entry_id) references entries (id),
  constraint round_payouts_one_per_rank unique (round_id, final_rank),
  constraint round_payouts_one_per_entry unique (entry_id),
  constraint round_payouts_final_rank_is_positive check (final_rank >= 1),
  constraint round_payouts_amount_is_positive check (amount_cents > 0),
  constraint round_payouts_status_is_known check (status in ('paying', 'paid', 'held', 'releasing', 'denying', 'denied')),
  constraint round_payouts_paid_at_follows_status check ((status = 'paid') = (paid_at is not null))
);

create index round_payouts_unfinished on round_payouts (created_at) where status in ('paying', 'releasing', 'denying');

-- The signed root of the Merkle tree (RFC 6962) over a settled round's scored attempts.
create table seals (
  round_id uuid not null,
  leaves integer not null,
  root bytea not null,
  -- The canonical JSON that was signed, byte for byte; it holds the root.
  statement text not null,
  signature bytea not null,
  signing_key_id integer not null,
  created_at timestamptz(3) not null,
  constraint seals_pkey primary key (round_id),
  constraint seals_round_id_fkey foreign key (round_id) references rounds (id),
  constraint seals_signing_key_id_fkey foreign key (signing_key_id) references signing_keys (id),
  constraint seals_leaves_are_not_negative check (leaves >= 0),
  constraint seals_root_length check (octet_length(root) = 32),
  constraint seals_signature_length check (octet_length(signature) = 64)
);

-- The roots of the aligned subtrees of 1,024 leaves, so that a proof reads and hashes the leaves of one subtree only.
create table seal_nodes (
  round_id uuid not null,
  -- From 0.
  position integer not null,
  hash bytea not null,
  -- Where its leaves begin: the place of the entry that the first one belongs to, and how many of that entry's lie before it.
  first_place bytea not null,
  leaves_before integer not null,
  constraint seal_nodes_pkey primary key (round_id, position),
  constraint seal_nodes_round_id_fkey foreign key (round_id) references seals (round_id),
  constraint seal_nodes_first_leaf_key unique (round_id, first_place, leaves_before),
  constraint seal_nodes_position_is_not_negative check (position >= 0),
  constraint seal_nodes_leaves_before_is_not_negative check (leaves_before >= 0),
  constraint seal_nodes_hash_length check (octet_length(hash) = 32)
);
