-- The request log: the requests of `/v1` of the last seven days, which developers read in the
-- portal (docs/contract/portal-api.md, "Requests"). The gateway writes it after the response, in
-- batches.
--
-- Partitions. Each holds one UTC day, so that the rows of a day go by dropping a table, without a
-- delete or a vacuum. The partition key is the request's id, a UUIDv7: it begins with the instant
-- of arrival. So the primary key is the id alone, a look-up by id reads one partition, and
-- inserts reach one end of its index. With the instant as the key, both would have to be in the
-- primary key, and a look-up by id would read every partition.
--
-- Positions. Lists are ordered by `position`, which the writer takes from a sequence while it
-- holds an advisory lock until its commit. So positions become visible in their order, whatever
-- the replicas do, and a reader that goes on after a position misses no row. Ids and instants are
-- given at arrival, long before the commit: a reader that goes on after one would miss requests
-- that took longer.
--
-- Roles. The service's role may not create or drop tables (decision 16). Two functions that run
-- as the owner do it, without arguments: they make partitions for the days around today, and drop
-- those that ended more than seven days ago, by the database's clock. Partitions are not made
-- here, since the result of the migrations must not depend on the day.
--
-- Expand only: the previous release does not know these tables.

create sequence request_positions;

create table requests (
  request_id uuid not null,
  position bigint not null default nextval('request_positions'),
  program_id uuid not null,
  environment text not null,
  -- The arrival, by the clock of the gateway's process.
  at timestamptz(3) not null,
  method text not null,
  -- With its query; secrets are redacted, as in the bodies.
  path text not null,
  route text not null,
  status smallint not null,
  error_code text,
  duration_ms real not null,
  idempotency_key text,
  replayed boolean not null,
  user_agent text,
  request_body text,
  request_body_truncated boolean not null,
  response_body text,
  response_body_truncated boolean not null,
  constraint requests_pkey primary key (request_id),
  constraint requests_environment_known check (environment in ('test', 'live')),
  constraint requests_request_body_length check (octet_length(request_body) <= 16384),
  constraint requests_response_body_length check (octet_length(response_body) <= 16384)
) partition by range (request_id);

-- The lists of a program: newest first, and what has come after a position.
create index requests_by_position on requests (program_id, environment, position);

-- The number of requests in each five minutes, by status and code: an overview of a week reads some
-- thousand rows, however many requests there were.
create table request_counts (
  program_id uuid not null,
  environment text not null,
  starts_at timestamptz(3) not null,
  status smallint not null,
  -- Empty if the response had no code.
  error_code text not null,
  requests bigint not null,
  constraint request_counts_pkey primary key (program_id, environment, starts_at, status, error_code),
  constraint request_counts_environment_known check (environment in ('test', 'live')),
  constraint request_counts_requests_is_positive check (requests > 0)
)
-- With room on the page every update is HOT.
with (fillfactor = 50);

-- For deleting old rows.
create index request_counts_by_start on request_counts (starts_at);

-- When a program's first request of a kind succeeded. The log forgets it after a week.
create table first_requests (
  program_id uuid not null,
  environment text not null,
  milestone text not null,
  at timestamptz(3) not null,
  constraint first_requests_pkey primary key (program_id, environment, milestone),
  constraint first_requests_environment_known check (environment in ('test', 'live')),
  constraint first_requests_milestone_known
    check (milestone in ('key_used', 'player_linked', 'attempt_created', 'outcome_reported'))
);

create function make_request_partitions() returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- A reader that is slow must not make the writers behind this statement wait.
set lock_timeout = '2s'
as $$
declare
  today constant date := (statement_timestamp() at time zone 'UTC')::date;
  day date;
  partition text;
begin
  perform pg_advisory_xact_lock(hashtextextended('laurel request partitions', 0));
  -- Yesterday: a request may have arrived before midnight. Two days ahead: a worker that fails for
  -- a day loses nothing.
  for day in select today + n from generate_series(-1, 2) as n loop
    partition := 'requests_' || to_char(day, 'YYYYMMDD');
    continue when to_regclass('public.' || partition) is not null;
    -- Nothing is ever updated or deleted, so there is nothing to vacuum.
    execute format(
      'create table public.%I (like public.requests including defaults including constraints)
       with (autovacuum_enabled = false, toast.autovacuum_enabled = false)', partition);
    -- To attach a table does not block the writers; to create it as a partition would.
    execute format(
      'alter table public.requests attach partition public.%I for values from (%L) to (%L)', partition,
      rpad(lpad(to_hex(extract(epoch from day)::bigint * 1000), 12, '0'), 32, '0')::uuid,
      rpad(lpad(to_hex(extract(epoch from day + 1)::bigint * 1000), 12, '0'), 32, '0')::uuid);
  end loop;
end
$$;

create function drop_request_partitions() returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  today constant date := (statement_timestamp() at time zone 'UTC')::date;
  partition text;
  dropped integer := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('laurel request partitions', 0));
  for partition in
    select c.relname
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'public.requests'::regclass and c.relname < 'requests_' || to_char(today - 7, 'YYYYMMDD')
    order by c.relname
  loop
    execute format('drop table public.%I', partition);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;
