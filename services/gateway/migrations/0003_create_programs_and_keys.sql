-- Who may call /v1: programs, their API keys, and the developers who own them.

create table developers (
  id uuid not null,
  -- Lower case, so that one address is one developer.
  email text not null,
  -- Argon2id, in its own text form with salt and parameters.
  password_hash text not null,
  created_at timestamptz(3) not null default now(),
  constraint developers_pkey primary key (id),
  constraint developers_email_unique unique (email),
  constraint developers_email_lower_case check (email = lower(email)),
  constraint developers_email_length check (char_length(email) between 3 and 254)
);

create table programs (
  id uuid not null,
  name text not null,
  developer_id uuid,
  -- A live key works only while its program is approved; no key works while it is suspended or closed.
  status text not null default 'draft',
  -- No key works while the account is scheduled for deletion.
  deletion_scheduled boolean not null default false,
  created_at timestamptz(3) not null default now(),
  constraint programs_pkey primary key (id),
  constraint programs_developer_fkey foreign key (developer_id) references developers (id),
  constraint programs_status_known check (status in ('draft', 'approved', 'suspended', 'closed')),
  constraint programs_name_length check (char_length(name) between 1 and 255)
);

create index programs_developer on programs (developer_id) where developer_id is not null;

create table api_keys (
  id uuid not null,
  program_id uuid not null,
  environment text not null,
  -- HMAC-SHA-256 of the key under the server's pepper; the key itself is never stored.
  key_hash bytea not null,
  -- The beginning and the end of the key, for people to tell keys apart.
  prefix text not null,
  last4 text not null,
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  constraint api_keys_pkey primary key (id),
  constraint api_keys_program_fkey foreign key (program_id) references programs (id),
  constraint api_keys_key_hash_unique unique (key_hash),
  constraint api_keys_key_hash_length check (octet_length(key_hash) = 32),
  constraint api_keys_environment_known check (environment in ('test', 'live')),
  constraint api_keys_last4_length check (char_length(last4) = 4)
);

-- A regenerated key replaces the old one: at most one works per program and environment.
create unique index api_keys_one_active on api_keys (program_id, environment) where revoked_at is null;
