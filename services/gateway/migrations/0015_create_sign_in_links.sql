-- Links that sign a developer in to the portal without a password, once each. An operator makes them.
--
-- The previous release does not know the table.

-- The exchange deletes the row and begins the session in one statement: of two exchanges at once, one finds the row.
create table sign_in_links (
  -- HMAC-SHA-256 of the token under the server's pepper; the token itself is never stored.
  token_hash bytea not null,
  developer_id uuid not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint sign_in_links_pkey primary key (token_hash),
  constraint sign_in_links_developer_fkey foreign key (developer_id) references developers (id),
  constraint sign_in_links_token_hash_length check (octet_length(token_hash) = 32),
  constraint sign_in_links_last_15_minutes
    check (expires_at > created_at and expires_at <= created_at + interval '15 minutes')
);

create index sign_in_links_by_expiry on sign_in_links (expires_at);
