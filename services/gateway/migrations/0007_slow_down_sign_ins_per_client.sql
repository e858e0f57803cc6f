-- Failed sign-ins slow down their source: one e-mail from one client, a client with all its e-mails, and an e-mail from all clients from
-- which it never signed in. So guesses elsewhere never slow down a developer where they signed in before.

-- Whether the client was one from which a developer had signed in with this e-mail.
alter table sign_in_failures add column from_known_client boolean not null default false;

-- From where somebody signed in with an e-mail. Which e-mail and which network it was is kept as one HMAC-SHA-256 under the server's pepper.
create table known_clients (
  pair_hash bytea not null,
  last_signed_in_at timestamptz(3) not null,
  constraint known_clients_pkey primary key (pair_hash),
  constraint known_clients_pair_hash_length check (octet_length(pair_hash) = 32)
);

create index known_clients_by_time on known_clients (last_signed_in_at);
