-- Operators' sessions, which their pages open with a token and continue by a cookie.
--
-- The previous release does not know the table.

-- Looked up at every call and never cached: a session whose row is gone has ended on every
-- replica. An operator has at most 20 rows, so the table needs no further index.
create table operator_sessions (
  -- HMAC-SHA-256 of the session's token under the server's pepper; no table has the token.
  token_hash bytea not null,
  -- The name of the holder of the operator token that opened the session.
  operator text not null,
  -- HMAC-SHA-256 of that name and that token: the session holds while both are configured.
  operator_token_hash bytea not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint operator_sessions_pkey primary key (token_hash),
  constraint operator_sessions_token_hash_length check (octet_length(token_hash) = 32),
  constraint operator_sessions_operator_token_hash_length check (octet_length(operator_token_hash) = 32),
  constraint operator_sessions_last_12_hours
    check (expires_at > created_at and expires_at <= created_at + interval '12 hours')
);
