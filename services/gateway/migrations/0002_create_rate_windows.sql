-- One row per key: its current fixed window. Unlogged: after a crash of the database every key starts a fresh minute, which harms nobody,
-- and a request costs no write-ahead log. No foreign key: it would be checked on the hottest path, and a row of a gone key is only dust.
create unlogged table rate_windows (
  key_id uuid primary key,
  started_at timestamptz(3) not null,
  requests integer not null,
  last_request_at timestamptz(3) not null,
  constraint rate_windows_requests_is_not_negative check (requests >= 0)
)
-- Every request updates its row and no index: with room on the page every update is HOT.
with (fillfactor = 30);
