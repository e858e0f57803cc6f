-- Who may play, and how partners name them. An account is a person; test and live share the person, never the money.

create table accounts (
  id uuid not null,
  -- Stored in lower case, so that one unique index means one person per address.
  email text collate "C" not null,
  date_of_birth date not null,
  jurisdiction text not null,
  verification_level smallint not null,
  self_excluded_until timestamptz(3),
  enforcement_flag boolean not null default false,
  under_investigation boolean not null default false,
  blocked boolean not null default false,
  sandbox_only boolean not null default false,
  created_at timestamptz(3) not null,
  constraint accounts_pkey primary key (id),
  constraint accounts_email_key unique (email),
  constraint accounts_email_is_lower_case check (email = lower(email) and length(email) between 3 and 320),
  constraint accounts_jurisdiction_is_a_code check (jurisdiction ~ '^[A-Z]{2}(-[A-Z0-9]{1,3})?$'),
  constraint accounts_verification_level_in_range check (verification_level between 0 and 3)
);

-- A partner's own player_ref names one account per program and environment. Every charge reads the account by the ref:
-- the key carries it, so that the read never leaves the index.
create table player_links (
  program_id uuid not null,
  environment text not null,
  player_ref text collate "C" not null,
  account_id uuid not null,
  -- When the ref was first linked; a move to another account keeps it.
  created_at timestamptz(3) not null,
  constraint player_links_pkey primary key (program_id, environment, player_ref) include (account_id),
  constraint player_links_account_id_fkey foreign key (account_id) references accounts (id),
  constraint player_links_environment_is_known check (environment in ('test', 'live')),
  constraint player_links_player_ref_length check (length(player_ref) between 1 and 255)
);

create index player_links_account_id_idx on player_links (account_id);

-- Accounts linked to a partner's own developer account: they may not enter that partner's live tournaments.
create table insiders (
  program_id uuid not null,
  account_id uuid not null,
  created_at timestamptz(3) not null,
  constraint insiders_pkey primary key (program_id, account_id),
  constraint insiders_account_id_fkey foreign key (account_id) references accounts (id)
);
