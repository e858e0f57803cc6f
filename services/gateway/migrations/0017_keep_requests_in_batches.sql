-- The request log in rows of up to a thousand requests: one row for what a program and environment
-- has sent since the last write. A row for each request (0014) cost a paid flow 64 us of CPU, which
-- is 2 to 4 % of the flow; the log is written all the time and read seldom
-- (docs/decisions/0036-keep-the-request-log-in-batches.md).
--
-- A request's position is its batch's number times 1,000 plus its place. The rules of 0014 stay:
-- the writer holds an advisory lock until its commit, so batches become visible in the order of
-- their numbers, and a reader that goes on after a position misses no request.
--
-- Partitions. Each holds one UTC day, by the greatest id of a batch: a UUIDv7, which begins with
-- the instant of arrival. A request is found by its id in the batches that were written soon after
-- its arrival: their greatest id is not less than its own, and not much greater.
--
-- The previous release knows neither this table nor those of 0014.

drop function make_request_partitions();
drop function drop_request_partitions();
-- squawk-ignore ban-drop-table
drop table requests;
drop sequence request_positions;

create sequence request_batch_numbers;

create table request_batches (
  batch bigint not null default nextval('request_batch_numbers'),
  program_id uuid not null,
  environment text not null,
  first_request_id uuid not null,
  last_request_id uuid not null,
  line_count smallint not null,
  -- A JSON array in the order of the requests' ids, compressed: src/repository/requests.ts.
  lines bytea not null,
  constraint request_batches_pkey primary key (last_request_id, batch),
  constraint request_batches_environment_known check (environment in ('test', 'live')),
  constraint request_batches_ids_in_order check (first_request_id <= last_request_id),
  constraint request_batches_line_count check (line_count between 1 and 1000),
  constraint request_batches_lines_length check (octet_length(lines) <= 8388608)
) partition by range (last_request_id);

-- The lists of a program: newest first, and what has come after a position.
create index request_batches_by_number on request_batches (program_id, environment, batch);

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
    partition := 'request_batches_' || to_char(day, 'YYYYMMDD');
    continue when to_regclass('public.' || partition) is not null;
    -- Nothing is ever updated or deleted, so there is nothing to vacuum.
    execute format(
      'create table public.%I (like public.request_batches including defaults including constraints)
       with (autovacuum_enabled = false, toast.autovacuum_enabled = false)', partition);
    -- It is compressed already.
    execute format('alter table public.%I alter column lines set storage external', partition);
    -- To attach a table does not block the writers; to create it as a partition would.
    execute format(
      'alter table public.request_batches attach partition public.%I for values from (%L) to (%L)', partition,
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
    where i.inhparent = 'public.request_batches'::regclass
      and c.relname < 'request_batches_' || to_char(today - 7, 'YYYYMMDD')
    order by c.relname
  loop
    execute format('drop table public.%I', partition);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;
