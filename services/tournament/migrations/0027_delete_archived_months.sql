-- The functions that delete an archived month (decision 38), as in the challenge service. They run
-- as the owner, and only the archive's role may execute them (archive-grants.sql): the service's
-- own role still cannot delete an attempt or an outcome.
--
-- A function gets no rows and no ids to delete. It deletes a batch only if the rows of the batch
-- have the digest of the archive's lines, so a row that was changed, added or never archived stops
-- it. Each function does nothing if it is repeated.
--
-- A month has the rounds that closed in it. Their attempts may have ids of earlier months, and
-- attempts of rounds that are still open may have ids of this month. So no range of ids is deleted.
--
-- Nothing calls them until an operator deletes a month. The previous release would not find an
-- archived attempt, so no month may be deleted while a replica of it runs.

-- The least id that can begin with the instant, as leastIdAt of libs/values computes it.
create function least_id_at(instant timestamptz) returns uuid
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select rpad(lpad(to_hex((extract(epoch from instant) * 1000)::bigint), 12, '0'), 32, '0')::uuid;
$$;

-- Whether the rounds that closed from the first instant on and before the second, their attempts
-- and their payouts add up to something else than a manifest states.
create function archived_totals_differ(totals jsonb, from_instant timestamptz, until_instant timestamptz) returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  with stated as (
    select t."table", t.environment, t.status, t.rows, t.cents
    from jsonb_to_recordset(totals) as t ("table" text, environment text, status text, rows bigint, cents numeric)
  ), of_month as materialized (
    select r.* from public.rounds r where r.closes_at >= from_instant and r.closes_at < until_instant
  ), found as (
    select 'rounds' as "table", r.environment, r.status, count(*) as rows,
      coalesce(sum((select sum(c) from unnest(r.purse_cents) as c)), 0) as cents
    from of_month r group by r.environment, r.status
    union all
    select 'attempts', r.environment, a.status, count(*), sum(a.fee_cents)
    from of_month r cross join lateral (
      select * from public.attempts of_round where of_round.round_id = r.id offset 0
    ) a group by r.environment, a.status
    union all
    select 'archived_attempts', r.environment, a.status, count(*), sum(a.fee_cents)
    from of_month r cross join lateral (
      select * from public.archived_attempts of_round where of_round.round_id = r.id offset 0
    ) a group by r.environment, a.status
    union all
    select 'round_payouts', r.environment, p.status, count(*), sum(p.amount_cents)
    from of_month r cross join lateral (
      select * from public.round_payouts of_round where of_round.round_id = r.id offset 0
    ) p group by r.environment, p.status
  ), added as (
    select case f."table" when 'archived_attempts' then 'attempts' else f."table" end as "table", f.environment, f.status,
      sum(f.rows)::bigint as rows, sum(f.cents) as cents
    from found f group by 1, 2, 3
  )
  select exists ((table stated except table added) union all (table added except table stated));
$$;

-- An attempt is created under a new id, or within a day. So an id of an archived month is late.
create function refuse_attempt_of_archived_month() returns trigger
language plpgsql
as $$
begin
  raise exception 'the month of the attempt''s id is archived'
    using errcode = 'check_violation', constraint = 'attempts_are_not_of_an_archived_month';
end
$$;

create function refuse_round_of_archived_month() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if new.closes_at < (select max(m.ends_at) from public.archived_months m) then
    raise exception 'the month in which the round would close is archived'
      using errcode = 'restrict_violation', constraint = 'rounds_do_not_close_in_an_archived_month';
  end if;
  return new;
end
$$;

create trigger rounds_open_after_the_archive before insert on rounds
  for each row execute function refuse_round_of_archived_month();
create trigger rounds_close_after_the_archive before update of closes_at on rounds
  for each row when (new.closes_at <> old.closes_at) execute function refuse_round_of_archived_month();

-- Stores the month with the digests of its batches, and from then on refuses new attempts with ids
-- of the month or of an earlier one, and rounds that would close in it. Batches have their entries
-- from the end of the batch before, the first from the least entry. The key of an entry is the text
-- of its round and its account. Returns false if the month was stored before.
create function begin_archived_month(
  of_month text, manifest bytea, totals jsonb, batch_ends text[], batch_attempts integer[], batch_digests bytea[]
) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
-- All writes of the service wait behind the lock on attempts, so it is soon given up.
set lock_timeout = '300ms'
set enable_hashjoin = on
as $$
declare
  begins constant timestamptz := (of_month || '-01')::timestamptz;
  ends constant timestamptz := begins + interval '1 month';
  least_key constant text := '00000000-0000-0000-0000-000000000000 00000000-0000-0000-0000-000000000000';
  end_key constant text := 'ffffffff-ffff-ffff-ffff-ffffffffffff ffffffff-ffff-ffff-ffff-ffffffffffff';
  stored bytea;
begin
  perform pg_advisory_xact_lock(hashtextextended('laurel archived months', 0));
  select m.manifest_sha256 into stored from public.archived_months m where m.month = of_month;
  if stored = manifest then return false; end if;
  if stored is not null then
    raise exception '% was begun with another manifest', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_are_kept';
  end if;
  -- As the archive itself: an idempotency key, which may create an attempt of an old id, counts for
  -- a day.
  if now() < ends + interval '7 days' then
    raise exception '% has not ended 7 days ago', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_are_of_age';
  end if;
  if exists (select from public.archived_months m where m.month > of_month or m.deleted_at is null)
    or exists (
      select from public.rounds r
      where r.closes_at >= coalesce((select max(m.ends_at) from public.archived_months m), '-infinity') and r.closes_at < begins
        and exists (select from public.attempts a where a.round_id = r.id)) then
    raise exception 'months are deleted one after the other, the oldest first, and % is not the next', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_are_in_order';
  end if;
  if exists (select from public.rounds r
      where r.closes_at >= begins and r.closes_at < ends and r.status not in ('settled', 'cancelled'))
    or exists (select from public.rounds r cross join lateral (
        select a.status from public.attempts a where a.round_id = r.id offset 0) a
      where r.closes_at >= begins and r.closes_at < ends and a.status not in ('settled', 'expired', 'voided', 'refused'))
    or exists (select from public.refunds_due d
      join public.attempts a on a.id = d.attempt_id join public.rounds r on r.id = a.round_id
      where r.closes_at >= begins and r.closes_at < ends)
    or exists (select from public.rounds r cross join lateral (
        select p.status from public.round_payouts p where p.round_id = r.id offset 0) p
      where r.closes_at >= begins and r.closes_at < ends and p.status not in ('paid', 'denied'))
    or exists (select from public.outbox b where b.event_id < public.least_id_at(ends)) then
    raise exception '% may still change', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_have_ended';
  end if;
  if public.archived_totals_differ(totals, begins, ends) then
    raise exception '% does not add up to what its manifest states', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_add_up';
  end if;
  insert into public.archived_months (month, begins_at, ends_at, manifest_sha256, totals, begun_at)
  values (of_month, begins, ends, manifest, totals, now());
  insert into public.archived_batches
    (month, number, least_round_id, least_account_id, end_round_id, end_account_id, attempts, digest)
  select of_month, b.number, split_part(b.least_key, ' ', 1)::uuid, split_part(b.least_key, ' ', 2)::uuid,
    split_part(b.end_key, ' ', 1)::uuid, split_part(b.end_key, ' ', 2)::uuid, b.attempts, b.digest
  from (
    select n.number, lag(n.end_key, 1, least_key) over (order by n.number) as least_key, n.end_key, n.attempts, n.digest
    from unnest(batch_ends, batch_attempts, batch_digests) with ordinality as n (end_key, attempts, digest, number)
  ) b
  order by b.number;
  if batch_ends[cardinality(batch_ends)] <> end_key then
    raise exception 'the last batch does not end with %', of_month
      using errcode = 'restrict_violation', constraint = 'archived_batches_are_the_month';
  end if;
  -- Last, so that the lock is held only for the commit. The condition spares every other insert the
  -- call of the function.
  execute format(
    'create or replace trigger attempts_are_not_of_an_archived_month before insert on public.attempts
       for each row when (new.id < %L::uuid) execute function public.refuse_attempt_of_archived_month()',
    public.least_id_at(ends));
  return true;
end
$$;

-- Moves the rows of one batch to archived_attempts. Returns how many attempts moved; 0 if they had
-- moved before.
create function delete_archived_batch(of_month text, of_number integer) returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- The lines must have the text that the archive wrote, whatever the session prints.
set timezone = 'UTC'
set bytea_output = 'hex'
set extra_float_digits = 1
set enable_hashjoin = on
as $$
declare
  batch public.archived_batches;
  ids uuid[];
  moved integer;
  found_digest bytea;
begin
  select * into batch from public.archived_batches b where b.month = of_month and b.number = of_number for update;
  if not found then
    raise exception '% has no batch %', of_month, of_number
      using errcode = 'restrict_violation', constraint = 'archived_batches_are_begun';
  end if;
  if batch.deleted_at is not null then return 0; end if;
  select array_agg(a.id) into ids
  from public.archived_months m
  join public.rounds r on r.closes_at >= m.begins_at and r.closes_at < m.ends_at
  cross join lateral (
    select of_round.id from public.attempts of_round
    where of_round.round_id = r.id
      and (of_round.round_id, of_round.account_id) >= (batch.least_round_id, batch.least_account_id)
      and (of_round.round_id, of_round.account_id) < (batch.end_round_id, batch.end_account_id)
    offset 0
  ) a
  where m.month = of_month and r.id >= batch.least_round_id and r.id <= batch.end_round_id;
  -- The order of docs/lock-order.md. A transaction that records an outcome locks its attempt first,
  -- so no outcome is added meanwhile.
  perform from public.attempts a where a.id = any(ids) order by a.id for update;
  -- What is hashed is what was deleted: both are one statement.
  with gone_outcomes as (
    delete from public.outcomes o where o.attempt_id = any(ids)
    returning o.attempt_id, o.receipt_id, o.score, o.tiebreak, o.recorded_at, row_to_json(o)::text as line
  ), gone_attempts as (
    delete from public.attempts a where a.id = any(ids)
    returning a.id, a.round_id, a.entry_id, a.account_id, a.player_ref, a.status, a.fee_cents, a.created_at,
      a.fee_generation, a.closed_reason, row_to_json(a)::text as line
  ), gone as (
    select a.*, o.receipt_id, o.score, o.tiebreak, o.recorded_at, o.line as outcome_line
    from gone_attempts a left join gone_outcomes o on o.attempt_id = a.id
  ), found as (
    select count(*) as attempts, sha256(convert_to(
      coalesce(string_agg(g.line || e'\n', '' order by g.round_id, g.account_id, g.id), '')
      || coalesce(string_agg(g.outcome_line || e'\n', '' order by g.round_id, g.account_id, g.id), ''), 'UTF8')) as digest
    from gone g
  ), kept as (
    insert into public.archived_attempts (id, round_id, entry_id, account_id, player_ref, status, fee_cents, created_at,
      fee_generation, closed_reason, score, tiebreak, recorded_at, receipt_id)
    select g.id, g.round_id, g.entry_id, g.account_id, g.player_ref, g.status, g.fee_cents, g.created_at,
      g.fee_generation, g.closed_reason, g.score, g.tiebreak, g.recorded_at, g.receipt_id
    from gone g
    where (select f.digest from found f) = batch.digest
    order by g.id
  )
  select f.attempts, f.digest into moved, found_digest from found f;
  if moved <> batch.attempts or found_digest <> batch.digest then
    raise exception 'the rows of batch % of % are not those of the archive', of_number, of_month
      using errcode = 'restrict_violation', constraint = 'archived_batches_are_those_of_the_archive';
  end if;
  update public.archived_batches b set deleted_at = now() where b.month = of_month and b.number = of_number;
  return moved;
end
$$;

-- Marks the month as deleted. Returns false if it was before.
create function end_archived_month(of_month text) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_hashjoin = on
as $$
declare
  stored public.archived_months;
begin
  select * into stored from public.archived_months m where m.month = of_month for update;
  if not found then
    raise exception '% has not begun', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_are_begun';
  end if;
  if stored.deleted_at is not null then return false; end if;
  if exists (select from public.archived_batches b where b.month = of_month and b.deleted_at is null)
    or exists (
      select from public.rounds r
      where r.closes_at >= stored.begins_at and r.closes_at < stored.ends_at
        and exists (select from public.attempts a where a.round_id = r.id)) then
    raise exception '% still has attempts', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_are_deleted_whole';
  end if;
  if public.archived_totals_differ(stored.totals, stored.begins_at, stored.ends_at) then
    raise exception '% does not add up to what its manifest states', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_add_up';
  end if;
  update public.archived_months m set deleted_at = now() where m.month = of_month;
  return true;
end
$$;

revoke all on function least_id_at(timestamptz) from public;
revoke all on function archived_totals_differ(jsonb, timestamptz, timestamptz) from public;
revoke all on function refuse_attempt_of_archived_month() from public;
revoke all on function refuse_round_of_archived_month() from public;
revoke all on function begin_archived_month(text, bytea, jsonb, text[], integer[], bytea[]) from public;
revoke all on function delete_archived_batch(text, integer) from public;
revoke all on function end_archived_month(text) from public;
