-- The developer portal's door: who is signed in, and who failed to.

-- Looked up at every call, and never remembered: a row that is gone is a session that is over, on every replica.
create table sessions (
  -- HMAC-SHA-256 of the token under the server's pepper; the token itself is never stored.
  token_hash bytea not null,
  developer_id uuid not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint sessions_pkey primary key (token_hash),
  constraint sessions_developer_fkey foreign key (developer_id) references developers (id),
  constraint sessions_token_hash_length check (octet_length(token_hash) = 32),
  constraint sessions_end_after_they_begin check (expires_at > created_at)
);

create index sessions_by_expiry on sessions (expires_at);

-- One row is one sign-in that failed, or that is being checked now: it counts before its password is looked at, and a right password
-- takes it back. Whom it concerns is kept as HMAC-SHA-256 under the server's pepper: what people mistype is nobody's business.
create table sign_in_failures (
  id uuid not null,
  email_hash bytea not null,
  address_hash bytea not null,
  failed_at timestamptz(3) not null,
  constraint sign_in_failures_pkey primary key (id),
  constraint sign_in_failures_email_hash_length check (octet_length(email_hash) = 32),
  constraint sign_in_failures_address_hash_length check (octet_length(address_hash) = 32)
);

create index sign_in_failures_of_email on sign_in_failures (email_hash, failed_at);
create index sign_in_failures_of_address on sign_in_failures (address_hash, failed_at);
create index sign_in_failures_by_time on sign_in_failures (failed_at);
