-- The minute's requests count per program and environment, whatever key was used: a regenerated key goes on in the window of the old one.
--
-- `rate_windows`, which counted per key, stays until every replica of the release before this one has ended: they still write to it. While
-- both run, each release admits the limit by itself. The release after this one drops it.

-- Whose window a key's requests count in. Derived here and nowhere else; opaque, so that windows can have other subjects too.
-- The table is rewritten for it while no request is admitted: some thousands of rows, some milliseconds.
-- squawk-ignore adding-field-with-default
alter table api_keys add column window_id uuid not null generated always as (
  encode(substr(sha256((program_id::text || ' ' || environment)::bytea), 1, 16), 'hex')::uuid
) stored;

-- One row per subject: its current fixed window. Unlogged: after a crash of the database every program starts a fresh minute, which is
-- harmless, and a request costs no write-ahead log. No foreign key: it would be checked on the hottest path.
create unlogged table request_windows (
  subject uuid not null,
  started_at timestamptz(3) not null,
  requests integer not null,
  last_request_at timestamptz(3) not null,
  -- The API key that was counted last; null where the subject is no program.
  key_id uuid,
  constraint request_windows_pkey primary key (subject),
  constraint request_windows_requests_is_not_negative check (requests >= 0)
)
-- Every request updates its row and no index: with room on the page every update is HOT.
with (fillfactor = 30);
