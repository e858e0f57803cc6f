-- Which operation each idempotency key names, kept 24 hours (decision 23). The previous release works with it: it writes no rows here, and
-- its operations are found by their ids alone, as before.

-- Written in the commit of the operation, so that a request that is sent again is recognized although the gateway has lost its record.
create table key_uses (
  -- Derived from tenant, route and key.
  key_id uuid not null,
  -- The attempt that was created, or the operation that recorded an outcome.
  operation_id uuid not null,
  -- SHA-256 of what was asked.
  fingerprint bytea not null,
  used_at timestamptz(3) not null,
  constraint key_uses_pkey primary key (key_id),
  constraint key_uses_fingerprint_length check (octet_length(fingerprint) = 32)
)
with (autovacuum_vacuum_scale_factor = 0.05);

-- Rows arrive in the order of time and are deleted in it. A block range index serves that at almost no cost per insert.
create index key_uses_by_age on key_uses using brin (used_at) with (pages_per_range = 32, autosummarize = on);
