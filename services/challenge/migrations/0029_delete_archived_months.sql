-- The functions that delete an archived month (decision 38). They run as the owner, and only the
-- archive's role may execute them (archive-grants.sql): the service's own role still cannot delete
-- an attempt or an outcome.
--
-- A function gets no rows and no ids to delete. It deletes a batch only if the rows of the batch
-- have the digest of the archive's lines, so a row that was changed, added or never archived stops
-- it. Each function does nothing if it is repeated.
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

-- Whether the attempts and awards of these ids add up to something else than a manifest states.
create function archived_totals_differ(totals jsonb, from_id uuid, until_id uuid) returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  with stated as (
    select t."table", t.environment, t.status, t.rows, t.cents
    from jsonb_to_recordset(totals) as t ("table" text, environment text, status text, rows bigint, cents numeric)
  ), found as (
    select 'attempts' as "table", c.environment, a.status, count(*) as rows, sum(a.fee_cents) as cents
    from public.all_attempts a join public.challenges c on c.id = a.challenge_id
    where a.id >= from_id and a.id < until_id group by c.environment, a.status
    union all
    select 'awards', c.environment, w.status, count(*), sum(w.amount_cents)
    from public.awards w join public.challenges c on c.id = w.challenge_id
    where w.attempt_id >= from_id and w.attempt_id < until_id group by c.environment, w.status
  )
  select exists ((table stated except table found) union all (table found except table stated));
$$;

-- Stores the month with the digests of its batches, and from then on refuses new attempts with ids
-- of the month or of an earlier one. Batches have their ids from the end of the batch before, the
-- first from the beginning of the month. Returns false if the month was stored before.
create function begin_archived_month(
  of_month text, manifest bytea, totals jsonb, batch_ends uuid[], batch_attempts integer[], batch_digests bytea[]
) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
-- All calls of the service wait behind the lock on attempts, so it is soon given up.
set lock_timeout = '300ms'
set enable_hashjoin = on
as $$
declare
  begins constant timestamptz := (of_month || '-01')::timestamptz;
  ends constant timestamptz := begins + interval '1 month';
  from_id constant uuid := public.least_id_at(begins);
  until_id constant uuid := public.least_id_at(ends);
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
    or exists (select from public.attempts a where a.id < from_id) then
    raise exception 'months are deleted one after the other, the oldest first, and % is not the next', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_are_in_order';
  end if;
  if exists (select from public.attempts a where a.id >= from_id and a.id < until_id
      and a.status not in ('settled', 'expired', 'voided', 'refused'))
    or exists (select from public.refunds_due r where r.attempt_id >= from_id and r.attempt_id < until_id)
    or exists (select from public.ramp_slots s where s.attempt_id >= from_id and s.attempt_id < until_id)
    or exists (select from public.awards w where w.attempt_id >= from_id and w.attempt_id < until_id
      and w.status not in ('paid', 'denied')) then
    raise exception '% may still change', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_have_ended';
  end if;
  if public.archived_totals_differ(totals, from_id, until_id) then
    raise exception '% does not add up to what its manifest states', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_add_up';
  end if;
  insert into public.archived_months (month, least_id, end_id, manifest_sha256, totals, begun_at)
  values (of_month, from_id, until_id, manifest, totals, now());
  insert into public.archived_batches (month, number, least_id, end_id, attempts, digest)
  select of_month, b.number, lag(b.end_id, 1, from_id) over (order by b.number), b.end_id, b.attempts, b.digest
  from unnest(batch_ends, batch_attempts, batch_digests) with ordinality as b (end_id, attempts, digest, number)
  order by b.number;
  if batch_ends[cardinality(batch_ends)] <> until_id then
    raise exception 'the last batch does not end with %', of_month
      using errcode = 'restrict_violation', constraint = 'archived_batches_are_the_month';
  end if;
  -- Not validated: rows of the month stay until their batch is deleted. Last, so that the lock is
  -- held only for the commit.
  execute format(
    'alter table public.attempts drop constraint if exists attempts_id_is_not_archived,
       add constraint attempts_id_is_not_archived check (id >= %L) not valid', until_id);
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
  moved integer;
  found_digest bytea;
begin
  select * into batch from public.archived_batches b where b.month = of_month and b.number = of_number for update;
  if not found then
    raise exception '% has no batch %', of_month, of_number
      using errcode = 'restrict_violation', constraint = 'archived_batches_are_begun';
  end if;
  if batch.deleted_at is not null then return 0; end if;
  -- The order of docs/lock-order.md. A transaction that records an outcome locks its attempt first,
  -- so no outcome is added meanwhile.
  perform from public.attempts a where a.id >= batch.least_id and a.id < batch.end_id order by a.id for update;
  -- What is hashed is what was deleted: both are one statement.
  with gone_outcomes as (
    delete from public.outcomes o where o.attempt_id >= batch.least_id and o.attempt_id < batch.end_id
    returning o.attempt_id, o.receipt_id, o.score, o.met_threshold, o.recorded_at, row_to_json(o)::text as line
  ), gone_attempts as (
    delete from public.attempts a where a.id >= batch.least_id and a.id < batch.end_id
    returning a.id, a.challenge_id, a.account_id, a.player_ref, a.status, a.fee_cents, a.prize_cents, a.threshold,
      a.created_at, a.fee_generation, a.closed_reason, row_to_json(a)::text as line
  ), found as (
    select (select count(*) from gone_attempts) as attempts, sha256(convert_to(
      coalesce((select string_agg(a.line || e'\n', '' order by a.id) from gone_attempts a), '')
      || coalesce((select string_agg(o.line || e'\n', '' order by o.attempt_id) from gone_outcomes o), ''), 'UTF8')) as digest
  ), kept as (
    insert into public.archived_attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents,
      threshold, created_at, fee_generation, closed_reason, score, met_threshold, recorded_at, receipt_id)
    select a.id, a.challenge_id, a.account_id, a.player_ref, a.status, a.fee_cents, a.prize_cents, a.threshold,
      a.created_at, a.fee_generation, a.closed_reason, o.score, o.met_threshold, o.recorded_at, o.receipt_id
    from gone_attempts a left join gone_outcomes o on o.attempt_id = a.id
    where (select f.digest from found f) = batch.digest
    order by a.id
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
    or exists (select from public.attempts a where a.id < stored.end_id) then
    raise exception '% still has attempts', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_are_deleted_whole';
  end if;
  if public.archived_totals_differ(stored.totals, stored.least_id, stored.end_id) then
    raise exception '% does not add up to what its manifest states', of_month
      using errcode = 'restrict_violation', constraint = 'archived_months_add_up';
  end if;
  update public.archived_months m set deleted_at = now() where m.month = of_month;
  return true;
end
$$;

revoke all on function least_id_at(timestamptz) from public;
revoke all on function archived_totals_differ(jsonb, uuid, uuid) from public;
revoke all on function begin_archived_month(text, bytea, jsonb, uuid[], integer[], bytea[]) from public;
revoke all on function delete_archived_batch(text, integer) from public;
revoke all on function end_archived_month(text) from public;
