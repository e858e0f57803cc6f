-- Derived from migrations/ by `npm run schema`; do not edit. Tables, constraints and indexes as they are after all of them.
-- The reasons of a migration, and the rows that it inserts, are there.

SET check_function_bodies = false;

CREATE FUNCTION public.archived_totals_differ(totals jsonb, from_instant timestamp with time zone, until_instant timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.begin_archived_month(of_month text, manifest bytea, totals jsonb, batch_ends text[], batch_attempts integer[], batch_digests bytea[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '300ms'
    SET enable_hashjoin TO 'on'
    AS $$
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

CREATE FUNCTION public.delete_archived_batch(of_month text, of_number integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET bytea_output TO 'hex'
    SET extra_float_digits TO '1'
    SET enable_hashjoin TO 'on'
    AS $$
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

CREATE FUNCTION public.end_archived_month(of_month text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_hashjoin TO 'on'
    AS $$
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

CREATE FUNCTION public.least_id_at(instant timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select rpad(lpad(to_hex((extract(epoch from instant) * 1000)::bigint), 12, '0'), 32, '0')::uuid;
$$;

CREATE FUNCTION public.refuse_attempt_of_archived_month() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'the month of the attempt''s id is archived'
    using errcode = 'check_violation', constraint = 'attempts_are_not_of_an_archived_month';
end
$$;

CREATE FUNCTION public.refuse_cancellation_of_ended_round() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  -- The lock keeps the status until the commit.
  if (select r.status from public.rounds r where r.id = new.round_id for no key update) <> 'open' then
    raise exception 'an operator cancels a round once, while it is open'
      using errcode = 'restrict_violation', constraint = 'rounds_are_cancelled_while_open';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.refuse_cancellation_of_running_round() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if not exists (
    select from public.rounds r where r.id = new.round_id and r.closes_at <= greatest(r.opens_at, new.cancelled_at)
  ) then
    raise exception 'a cancelled round takes no entries and no scores'
      using errcode = 'restrict_violation', constraint = 'rounds_that_are_cancelled_are_over';
  end if;
  return null;
end
$$;

CREATE FUNCTION public.refuse_change_of_cancellations() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'the cancellation of a round never changes'
    using errcode = 'restrict_violation', constraint = 'round_cancellations_are_kept';
end
$$;

CREATE FUNCTION public.refuse_change_of_round_terms() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if tg_op = 'DELETE' then
    raise exception 'rounds are never deleted' using errcode = 'restrict_violation', constraint = 'rounds_are_kept';
  end if;
  if to_jsonb(new) - array['status', 'settled_at', 'entries_close_at', 'closes_at']
    is distinct from to_jsonb(old) - array['status', 'settled_at', 'entries_close_at', 'closes_at'] then
    raise exception 'the terms of a round never change'
      using errcode = 'restrict_violation', constraint = 'rounds_terms_are_frozen';
  end if;
  if new.status <> old.status and (old.status, new.status) not in
    (('open', 'settling'), ('settling', 'settled'), ('open', 'cancelling'), ('cancelling', 'cancelled')) then
    raise exception 'a round that is % does not become %', old.status, new.status
      using errcode = 'restrict_violation', constraint = 'rounds_status_only_moves_on';
  end if;
  if new.status <> old.status and new.status in ('settling', 'settled')
    and exists (select from public.round_cancellations c where c.round_id = old.id) then
    raise exception 'a round that an operator cancelled never settles'
      using errcode = 'restrict_violation', constraint = 'rounds_that_are_cancelled_never_settle';
  end if;
  -- The sandbox's clock: an open round of the test environment may end sooner. A round of either
  -- environment ends at the instant of its cancellation.
  if (new.entries_close_at, new.closes_at) is distinct from (old.entries_close_at, old.closes_at)
    and not (old.status = 'open' and new.entries_close_at <= old.entries_close_at and new.closes_at <= old.closes_at
      and (old.environment = 'test' or exists (
        select from public.round_cancellations c
        where c.round_id = old.id and new.closes_at = greatest(old.opens_at, c.cancelled_at)
      ))) then
    raise exception 'only an open round of the sandbox, or one that an operator cancels, ends sooner, and none later'
      using errcode = 'restrict_violation', constraint = 'rounds_end_when_they_said';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.refuse_change_of_signing_keys() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op = 'DELETE' then
    raise exception 'signing keys are never deleted' using errcode = 'restrict_violation', constraint = 'signing_keys_are_kept';
  end if;
  if (new.id, new.public_key, new.created_at) is distinct from (old.id, old.public_key, old.created_at) then
    raise exception 'a signing key never changes' using errcode = 'restrict_violation', constraint = 'signing_keys_are_kept';
  end if;
  if old.valid_until is not null and new.valid_until is null then
    raise exception 'a signing key that was replaced is not the current one again'
      using errcode = 'restrict_violation', constraint = 'signing_keys_stay_replaced';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.refuse_change_of_tournament_terms() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if tg_op = 'DELETE' then
    raise exception 'tournaments are never deleted' using errcode = 'restrict_violation', constraint = 'tournaments_are_kept';
  end if;
  if to_jsonb(new) - 'status' is distinct from to_jsonb(old) - 'status' then
    raise exception 'the terms of a tournament never change'
      using errcode = 'restrict_violation', constraint = 'tournaments_terms_are_frozen';
  end if;
  if old.status = 'closed' and new.status <> 'closed' then
    raise exception 'a closed tournament stays closed'
      using errcode = 'restrict_violation', constraint = 'tournaments_closed_is_final';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.refuse_payouts_of_rounds_that_did_not_run() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if exists (
    select from (select distinct round_id from added) paid join rounds r on r.id = paid.round_id
    where r.status not in ('settling', 'settled')
  ) then
    raise exception 'only a round that ran has payouts'
      using errcode = 'restrict_violation', constraint = 'round_payouts_are_of_a_round_that_ran';
  end if;
  return null;
end
$$;

CREATE FUNCTION public.refuse_round_of_archived_month() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if new.closes_at < (select max(m.ends_at) from public.archived_months m) then
    raise exception 'the month in which the round would close is archived'
      using errcode = 'restrict_violation', constraint = 'rounds_do_not_close_in_an_archived_month';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.refuse_round_without_entries() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'a round lasts at least eleven minutes from its opening, or from its creation if that is later'
    using errcode = 'check_violation', constraint = 'rounds_are_open_for_entries';
end
$$;

CREATE TABLE public.archived_attempts (
    id uuid NOT NULL,
    round_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    account_id uuid NOT NULL,
    player_ref text NOT NULL,
    status text NOT NULL,
    fee_cents bigint NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    fee_generation integer NOT NULL,
    closed_reason text,
    score double precision,
    tiebreak double precision,
    recorded_at timestamp(3) with time zone,
    receipt_id uuid,
    CONSTRAINT archived_attempts_closed_reason_length CHECK (((char_length(closed_reason) >= 1) AND (char_length(closed_reason) <= 1000))),
    CONSTRAINT archived_attempts_closed_with_a_reason CHECK (
CASE
    WHEN (status = ANY (ARRAY['voided'::text, 'refused'::text])) THEN (closed_reason IS NOT NULL)
    WHEN (status = 'expired'::text) THEN ((closed_reason IS NULL) OR (closed_reason = ANY (ARRAY['round_closed'::text, 'round_cancelled'::text])))
    ELSE (closed_reason IS NULL)
END),
    CONSTRAINT archived_attempts_fee_generation_is_not_negative CHECK ((fee_generation >= 0)),
    CONSTRAINT archived_attempts_fee_is_positive CHECK ((fee_cents > 0)),
    CONSTRAINT archived_attempts_have_ended CHECK ((status = ANY (ARRAY['settled'::text, 'expired'::text, 'voided'::text, 'refused'::text]))),
    CONSTRAINT archived_attempts_player_ref_length CHECK (((char_length(player_ref) >= 1) AND (char_length(player_ref) <= 255))),
    CONSTRAINT archived_attempts_score_is_finite CHECK (((score > '-Infinity'::double precision) AND (score < 'Infinity'::double precision))),
    CONSTRAINT archived_attempts_settled_with_an_outcome CHECK ((num_nulls(score, recorded_at, receipt_id) =
CASE status
    WHEN 'settled'::text THEN 0
    ELSE 3
END)),
    CONSTRAINT archived_attempts_tiebreak_belongs_to_an_outcome CHECK (((tiebreak IS NULL) OR (status = 'settled'::text))),
    CONSTRAINT archived_attempts_tiebreak_is_finite CHECK (((tiebreak > '-Infinity'::double precision) AND (tiebreak < 'Infinity'::double precision)))
);

CREATE TABLE public.attempts (
    id uuid NOT NULL,
    round_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    account_id uuid NOT NULL,
    player_ref text NOT NULL,
    status text NOT NULL,
    fee_cents bigint NOT NULL,
    metadata text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    fee_generation integer DEFAULT 0 NOT NULL,
    closed_reason text,
    CONSTRAINT attempts_closed_reason_length CHECK (((char_length(closed_reason) >= 1) AND (char_length(closed_reason) <= 1000))),
    CONSTRAINT attempts_closed_with_a_reason CHECK (
CASE
    WHEN (status = ANY (ARRAY['voiding'::text, 'voided'::text, 'refused'::text])) THEN (closed_reason IS NOT NULL)
    WHEN (status = ANY (ARRAY['expiring'::text, 'expired'::text])) THEN ((closed_reason IS NULL) OR (closed_reason = ANY (ARRAY['round_closed'::text, 'round_cancelled'::text])))
    ELSE (closed_reason IS NULL)
END),
    CONSTRAINT attempts_fee_generation_is_not_negative CHECK ((fee_generation >= 0)),
    CONSTRAINT attempts_fee_is_positive CHECK ((fee_cents > 0)),
    CONSTRAINT attempts_metadata_is_an_object CHECK ((metadata IS JSON OBJECT)),
    CONSTRAINT attempts_metadata_length CHECK ((octet_length(metadata) <= 16384)),
    CONSTRAINT attempts_player_ref_length CHECK (((char_length(player_ref) >= 1) AND (char_length(player_ref) <= 255))),
    CONSTRAINT attempts_status_is_known CHECK ((status = ANY (ARRAY['pending'::text, 'open'::text, 'settled'::text, 'expiring'::text, 'expired'::text, 'voiding'::text, 'voided'::text, 'refused'::text])))
)
WITH (fillfactor='50');

CREATE VIEW public.all_attempts AS
 SELECT attempts.id,
    attempts.round_id,
    attempts.entry_id,
    attempts.account_id,
    attempts.player_ref,
    attempts.status,
    attempts.fee_cents,
    attempts.created_at,
    attempts.fee_generation,
    attempts.closed_reason
   FROM public.attempts
UNION ALL
 SELECT archived_attempts.id,
    archived_attempts.round_id,
    archived_attempts.entry_id,
    archived_attempts.account_id,
    archived_attempts.player_ref,
    archived_attempts.status,
    archived_attempts.fee_cents,
    archived_attempts.created_at,
    archived_attempts.fee_generation,
    archived_attempts.closed_reason
   FROM public.archived_attempts;

CREATE TABLE public.outcomes (
    attempt_id uuid NOT NULL,
    receipt_id uuid NOT NULL,
    score double precision NOT NULL,
    tiebreak double precision,
    recorded_at timestamp(3) with time zone NOT NULL,
    receipt text NOT NULL,
    signature bytea NOT NULL,
    signing_key_id integer NOT NULL,
    CONSTRAINT outcomes_score_is_finite CHECK (((score > '-Infinity'::double precision) AND (score < 'Infinity'::double precision))),
    CONSTRAINT outcomes_signature_length CHECK ((octet_length(signature) = 64)),
    CONSTRAINT outcomes_tiebreak_is_finite CHECK (((tiebreak > '-Infinity'::double precision) AND (tiebreak < 'Infinity'::double precision)))
);

CREATE VIEW public.all_outcomes AS
 SELECT outcomes.attempt_id,
    outcomes.receipt_id,
    outcomes.score,
    outcomes.tiebreak,
    outcomes.recorded_at
   FROM public.outcomes
UNION ALL
 SELECT archived_attempts.id AS attempt_id,
    archived_attempts.receipt_id,
    archived_attempts.score,
    archived_attempts.tiebreak,
    archived_attempts.recorded_at
   FROM public.archived_attempts;

CREATE TABLE public.archived_batches (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    month text NOT NULL,
    number integer NOT NULL,
    least_round_id uuid NOT NULL,
    least_account_id uuid NOT NULL,
    end_round_id uuid NOT NULL,
    end_account_id uuid NOT NULL,
    attempts integer NOT NULL,
    digest bytea NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT archived_batches_digest_length CHECK ((octet_length(digest) = 32)),
    CONSTRAINT archived_batches_have_attempts CHECK ((attempts >= 1)),
    CONSTRAINT archived_batches_number_is_positive CHECK ((number >= 1)),
    CONSTRAINT archived_batches_range_is_in_order CHECK ((ROW(least_round_id, least_account_id) < ROW(end_round_id, end_account_id)))
);

CREATE TABLE public.archived_months (
    month text NOT NULL,
    begins_at timestamp(3) with time zone NOT NULL,
    ends_at timestamp(3) with time zone NOT NULL,
    manifest_sha256 bytea NOT NULL,
    totals jsonb NOT NULL,
    begun_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT archived_months_deleted_after_they_begin CHECK ((deleted_at >= begun_at)),
    CONSTRAINT archived_months_instants_are_in_order CHECK ((begins_at < ends_at)),
    CONSTRAINT archived_months_manifest_sha256_length CHECK ((octet_length(manifest_sha256) = 32)),
    CONSTRAINT archived_months_month_is_a_month CHECK ((month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'::text))
);

CREATE TABLE public.audit_findings (
    check_id text NOT NULL,
    walk text NOT NULL,
    key uuid NOT NULL,
    id text NOT NULL,
    environment text NOT NULL,
    CONSTRAINT audit_findings_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text])))
);

CREATE TABLE public.audit_passes (
    id smallint NOT NULL,
    started_at timestamp(3) with time zone,
    completed_at timestamp(3) with time zone,
    walk text,
    after uuid,
    snapshot text,
    tails jsonb NOT NULL,
    CONSTRAINT audit_passes_is_one_row CHECK ((id = 1)),
    CONSTRAINT audit_passes_is_whole CHECK ((num_nulls(started_at, walk, after, snapshot) = ANY (ARRAY[0, 4])))
);

CREATE TABLE public.audit_runs (
    id smallint NOT NULL,
    next_run_at timestamp(3) with time zone NOT NULL,
    finished_at timestamp(3) with time zone,
    duration_ms bigint,
    violations jsonb,
    CONSTRAINT audit_runs_is_one_row CHECK ((id = 1)),
    CONSTRAINT audit_runs_result_is_whole CHECK ((num_nulls(finished_at, duration_ms, violations) = ANY (ARRAY[0, 3])))
);

CREATE TABLE public.audit_sums (
    name text NOT NULL,
    key text NOT NULL,
    cents numeric NOT NULL
);

CREATE TABLE public.award_reviews (
    award_id uuid NOT NULL,
    decision text NOT NULL,
    operator text NOT NULL,
    reason text,
    CONSTRAINT award_reviews_decision_is_known CHECK ((decision = ANY (ARRAY['released'::text, 'denied'::text]))),
    CONSTRAINT award_reviews_operator_length CHECK (((char_length(operator) >= 1) AND (char_length(operator) <= 64))),
    CONSTRAINT award_reviews_reason_has_words CHECK ((reason ~ '[^ \t\n\r]'::text)),
    CONSTRAINT award_reviews_reason_length CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 1000)))
);

CREATE TABLE public.board_chunks (
    round_id uuid NOT NULL,
    lower_sort_key bytea NOT NULL,
    entries integer NOT NULL,
    CONSTRAINT board_chunks_begin_at_a_sort_key CHECK ((octet_length(lower_sort_key) = ANY (ARRAY[0, 39]))),
    CONSTRAINT board_chunks_entries_are_not_negative CHECK ((entries >= 0))
)
WITH (fillfactor='50');

CREATE TABLE public.entries (
    id uuid NOT NULL,
    round_id uuid NOT NULL,
    account_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    bought_at timestamp(3) with time zone,
    best_attempt_id uuid,
    best_score double precision,
    best_tiebreak double precision,
    best_score_at timestamp(3) with time zone,
    best_player_ref text,
    sort_key bytea,
    final_rank integer,
    payout_cents bigint,
    CONSTRAINT entries_best_player_ref_length CHECK (((char_length(best_player_ref) >= 1) AND (char_length(best_player_ref) <= 255))),
    CONSTRAINT entries_best_run_is_complete CHECK ((num_nonnulls(best_attempt_id, best_score, best_score_at, best_player_ref, sort_key) = ANY (ARRAY[0, 5]))),
    CONSTRAINT entries_best_score_is_finite CHECK (((best_score > '-Infinity'::double precision) AND (best_score < 'Infinity'::double precision))),
    CONSTRAINT entries_best_tiebreak_is_finite CHECK (((best_tiebreak > '-Infinity'::double precision) AND (best_tiebreak < 'Infinity'::double precision))),
    CONSTRAINT entries_final_rank_is_positive CHECK ((final_rank >= 1)),
    CONSTRAINT entries_payout_is_not_negative CHECK ((payout_cents >= 0)),
    CONSTRAINT entries_rank_and_payout_are_decided_together CHECK (((final_rank IS NULL) = (payout_cents IS NULL))),
    CONSTRAINT entries_sort_key_ends_with_the_entry CHECK (((octet_length(sort_key) = 39) AND (SUBSTRING(sort_key FROM 24) = uuid_send(id)))),
    CONSTRAINT entries_tiebreak_belongs_to_a_run CHECK (((best_tiebreak IS NULL) OR (sort_key IS NOT NULL))),
    CONSTRAINT entries_with_a_rank_have_a_run CHECK (((final_rank IS NULL) OR (sort_key IS NOT NULL))),
    CONSTRAINT entries_with_a_run_were_bought CHECK (((sort_key IS NULL) OR (bought_at IS NOT NULL)))
)
WITH (fillfactor='50');

CREATE TABLE public.entry_refs (
    round_id uuid NOT NULL,
    player_ref text NOT NULL,
    account_id uuid NOT NULL,
    CONSTRAINT entry_refs_player_ref_length CHECK (((char_length(player_ref) >= 1) AND (char_length(player_ref) <= 255)))
);

CREATE TABLE public.key_uses (
    key_id uuid NOT NULL,
    operation_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    used_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT key_uses_fingerprint_length CHECK ((octet_length(fingerprint) = 32))
)
WITH (autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE public.outbox (
    event_id uuid NOT NULL,
    payload bytea NOT NULL,
    published_at timestamp(3) with time zone DEFAULT clock_timestamp() NOT NULL,
    environment text NOT NULL,
    CONSTRAINT outbox_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text])))
);

CREATE TABLE public.refunds_due (
    attempt_id uuid NOT NULL,
    since timestamp(3) with time zone NOT NULL,
    reason text DEFAULT 'expired'::text NOT NULL,
    environment text,
    CONSTRAINT refunds_due_environment_is_known CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
    CONSTRAINT refunds_due_reason_is_known CHECK ((reason = ANY (ARRAY['expired'::text, 'voided'::text, 'round_closed'::text, 'round_cancelled'::text])))
);

CREATE TABLE public.round_cancellations (
    round_id uuid NOT NULL,
    cancelled_at timestamp(3) with time zone NOT NULL,
    cancelled_by text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT round_cancellations_cancelled_by_length CHECK (((char_length(cancelled_by) >= 1) AND (char_length(cancelled_by) <= 64))),
    CONSTRAINT round_cancellations_reason_has_words CHECK ((reason ~ '[^ \t\n\r]'::text)),
    CONSTRAINT round_cancellations_reason_length CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 1000)))
);

CREATE TABLE public.round_payouts (
    award_id uuid NOT NULL,
    round_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    account_id uuid NOT NULL,
    final_rank integer NOT NULL,
    amount_cents bigint NOT NULL,
    status text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    paid_at timestamp(3) with time zone,
    CONSTRAINT round_payouts_amount_is_positive CHECK ((amount_cents > 0)),
    CONSTRAINT round_payouts_final_rank_is_positive CHECK ((final_rank >= 1)),
    CONSTRAINT round_payouts_paid_at_follows_status CHECK (((status = 'paid'::text) = (paid_at IS NOT NULL))),
    CONSTRAINT round_payouts_status_is_known CHECK ((status = ANY (ARRAY['paying'::text, 'paid'::text, 'held'::text, 'releasing'::text, 'denying'::text, 'denied'::text])))
);

CREATE TABLE public.round_tallies (
    round_id uuid NOT NULL,
    entrants integer NOT NULL,
    scored_players integer NOT NULL,
    scored_attempts integer NOT NULL,
    CONSTRAINT round_tallies_are_nested CHECK (((0 <= scored_players) AND (scored_players <= entrants) AND (scored_players <= scored_attempts)))
)
WITH (fillfactor='20');

CREATE TABLE public.rounds (
    id uuid NOT NULL,
    tournament_id uuid NOT NULL,
    program_id uuid NOT NULL,
    environment text NOT NULL,
    number integer NOT NULL,
    status text NOT NULL,
    opens_at timestamp(3) with time zone NOT NULL,
    entries_close_at timestamp(3) with time zone NOT NULL,
    closes_at timestamp(3) with time zone NOT NULL,
    settled_at timestamp(3) with time zone,
    direction text NOT NULL,
    tiebreak_direction text,
    entry_fee_cents bigint NOT NULL,
    attempt_cap integer NOT NULL,
    purse_cents bigint[] NOT NULL,
    min_entrants integer NOT NULL,
    min_scored_attempts integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT rounds_attempt_cap_is_positive CHECK ((attempt_cap >= 1)),
    CONSTRAINT rounds_direction_is_known CHECK ((direction = ANY (ARRAY['higher_is_better'::text, 'lower_is_better'::text]))),
    CONSTRAINT rounds_entry_fee_is_positive CHECK ((entry_fee_cents > 0)),
    CONSTRAINT rounds_lie_within_bounds CHECK (((opens_at >= '1900-01-01 00:00:00+00'::timestamp with time zone) AND (closes_at <= '9999-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT rounds_min_entrants_is_positive CHECK ((min_entrants >= 1)),
    CONSTRAINT rounds_min_scored_attempts_is_not_negative CHECK ((min_scored_attempts >= 0)),
    CONSTRAINT rounds_number_is_positive CHECK ((number >= 1)),
    CONSTRAINT rounds_purse_is_a_list_of_ranks CHECK (
CASE
    WHEN ((array_ndims(purse_cents) = 1) AND (array_lower(purse_cents, 1) = 1)) THEN (array_position(purse_cents, NULL::bigint) IS NULL)
    ELSE false
END),
    CONSTRAINT rounds_purse_is_positive CHECK ((0 < ALL (purse_cents))),
    CONSTRAINT rounds_purse_never_grows_with_rank CHECK ((purse_cents = array_sort(purse_cents, true))),
    CONSTRAINT rounds_settled_at_follows_status CHECK (((status = 'settled'::text) = (settled_at IS NOT NULL))),
    CONSTRAINT rounds_status_is_known CHECK ((status = ANY (ARRAY['open'::text, 'settling'::text, 'settled'::text, 'cancelling'::text, 'cancelled'::text]))),
    CONSTRAINT rounds_tiebreak_direction_is_known CHECK ((tiebreak_direction = ANY (ARRAY['higher_is_better'::text, 'lower_is_better'::text]))),
    CONSTRAINT rounds_times_are_in_order CHECK (((opens_at <= entries_close_at) AND (entries_close_at <= closes_at)))
);

CREATE TABLE public.seal_nodes (
    round_id uuid NOT NULL,
    "position" integer NOT NULL,
    hash bytea NOT NULL,
    first_sort_key bytea NOT NULL,
    leaves_before integer NOT NULL,
    CONSTRAINT seal_nodes_hash_length CHECK ((octet_length(hash) = 32)),
    CONSTRAINT seal_nodes_leaves_before_is_not_negative CHECK ((leaves_before >= 0)),
    CONSTRAINT seal_nodes_position_is_not_negative CHECK (("position" >= 0))
);

CREATE TABLE public.seals (
    round_id uuid NOT NULL,
    leaves integer NOT NULL,
    root bytea NOT NULL,
    statement text NOT NULL,
    signature bytea NOT NULL,
    signing_key_id integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT seals_leaves_are_not_negative CHECK ((leaves >= 0)),
    CONSTRAINT seals_root_length CHECK ((octet_length(root) = 32)),
    CONSTRAINT seals_signature_length CHECK ((octet_length(signature) = 64))
);

CREATE TABLE public.signing_keys (
    id integer NOT NULL,
    public_key bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    valid_until timestamp(3) with time zone,
    CONSTRAINT signing_keys_period_is_in_order CHECK ((valid_until > created_at))
);

ALTER TABLE public.signing_keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.signing_keys_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.sweep_marks (
    sweep text NOT NULL,
    swept_until timestamp(3) with time zone NOT NULL,
    CONSTRAINT sweep_marks_sweep_is_known CHECK ((sweep = ANY (ARRAY['resolve_pending'::text, 'expire_attempts'::text, 'low_watermark'::text])))
);

CREATE TABLE public.tournaments (
    id uuid NOT NULL,
    program_id uuid NOT NULL,
    environment text NOT NULL,
    status text NOT NULL,
    name text NOT NULL,
    description text,
    metric_name text NOT NULL,
    metric_unit text NOT NULL,
    direction text NOT NULL,
    tiebreak_metric_name text,
    tiebreak_direction text,
    entry_fee_cents bigint NOT NULL,
    attempt_cap integer NOT NULL,
    purse_cents bigint[] NOT NULL,
    min_entrants integer NOT NULL,
    min_scored_attempts integer NOT NULL,
    round_length_seconds integer,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT tournaments_attempt_cap_is_positive CHECK ((attempt_cap >= 1)),
    CONSTRAINT tournaments_description_length CHECK ((char_length(description) <= 2000)),
    CONSTRAINT tournaments_direction_is_known CHECK ((direction = ANY (ARRAY['higher_is_better'::text, 'lower_is_better'::text]))),
    CONSTRAINT tournaments_entry_fee_is_positive CHECK ((entry_fee_cents > 0)),
    CONSTRAINT tournaments_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT tournaments_metric_name_length CHECK (((char_length(metric_name) >= 1) AND (char_length(metric_name) <= 255))),
    CONSTRAINT tournaments_metric_unit_length CHECK (((char_length(metric_unit) >= 1) AND (char_length(metric_unit) <= 255))),
    CONSTRAINT tournaments_min_entrants_is_positive CHECK ((min_entrants >= 1)),
    CONSTRAINT tournaments_min_scored_attempts_is_not_negative CHECK ((min_scored_attempts >= 0)),
    CONSTRAINT tournaments_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
    CONSTRAINT tournaments_purse_is_a_list_of_ranks CHECK (
CASE
    WHEN ((array_ndims(purse_cents) = 1) AND (array_lower(purse_cents, 1) = 1)) THEN (array_position(purse_cents, NULL::bigint) IS NULL)
    ELSE false
END),
    CONSTRAINT tournaments_purse_is_positive CHECK ((0 < ALL (purse_cents))),
    CONSTRAINT tournaments_purse_never_grows_with_rank CHECK ((purse_cents = array_sort(purse_cents, true))),
    CONSTRAINT tournaments_rounds_are_open_for_entries CHECK ((round_length_seconds >= 660)),
    CONSTRAINT tournaments_status_is_known CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'closed'::text]))),
    CONSTRAINT tournaments_tiebreak_direction_is_known CHECK ((tiebreak_direction = ANY (ARRAY['higher_is_better'::text, 'lower_is_better'::text]))),
    CONSTRAINT tournaments_tiebreak_has_metric_and_direction CHECK (((tiebreak_metric_name IS NULL) = (tiebreak_direction IS NULL))),
    CONSTRAINT tournaments_tiebreak_metric_name_length CHECK (((char_length(tiebreak_metric_name) >= 1) AND (char_length(tiebreak_metric_name) <= 255)))
);

ALTER TABLE ONLY public.archived_attempts
    ADD CONSTRAINT archived_attempts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.archived_attempts
    ADD CONSTRAINT archived_attempts_receipt_id_key UNIQUE (receipt_id);

ALTER TABLE ONLY public.archived_batches
    ADD CONSTRAINT archived_batches_id_key UNIQUE (id);

ALTER TABLE ONLY public.archived_batches
    ADD CONSTRAINT archived_batches_least_entry_key UNIQUE (month, least_round_id, least_account_id);

ALTER TABLE ONLY public.archived_batches
    ADD CONSTRAINT archived_batches_pkey PRIMARY KEY (month, number);

ALTER TABLE ONLY public.archived_months
    ADD CONSTRAINT archived_months_pkey PRIMARY KEY (month);

ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_findings
    ADD CONSTRAINT audit_findings_pkey PRIMARY KEY (check_id, walk, key, id, environment);

ALTER TABLE ONLY public.audit_passes
    ADD CONSTRAINT audit_passes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_runs
    ADD CONSTRAINT audit_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_sums
    ADD CONSTRAINT audit_sums_pkey PRIMARY KEY (name, key);

ALTER TABLE ONLY public.award_reviews
    ADD CONSTRAINT award_reviews_pkey PRIMARY KEY (award_id);

ALTER TABLE ONLY public.board_chunks
    ADD CONSTRAINT board_chunks_pkey PRIMARY KEY (round_id, lower_sort_key);

ALTER TABLE ONLY public.entries
    ADD CONSTRAINT entries_one_per_round_and_account UNIQUE (round_id, account_id);

ALTER TABLE ONLY public.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.entry_refs
    ADD CONSTRAINT entry_refs_pkey PRIMARY KEY (round_id, player_ref);

ALTER TABLE ONLY public.key_uses
    ADD CONSTRAINT key_uses_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY public.outcomes
    ADD CONSTRAINT outcomes_pkey PRIMARY KEY (attempt_id);

ALTER TABLE ONLY public.outcomes
    ADD CONSTRAINT outcomes_receipt_id_key UNIQUE (receipt_id);

ALTER TABLE ONLY public.refunds_due
    ADD CONSTRAINT refunds_due_pkey PRIMARY KEY (attempt_id);

ALTER TABLE ONLY public.round_cancellations
    ADD CONSTRAINT round_cancellations_pkey PRIMARY KEY (round_id);

ALTER TABLE ONLY public.round_payouts
    ADD CONSTRAINT round_payouts_one_per_entry UNIQUE (entry_id);

ALTER TABLE ONLY public.round_payouts
    ADD CONSTRAINT round_payouts_one_per_rank UNIQUE (round_id, final_rank);

ALTER TABLE ONLY public.round_payouts
    ADD CONSTRAINT round_payouts_pkey PRIMARY KEY (award_id);

ALTER TABLE ONLY public.round_tallies
    ADD CONSTRAINT round_tallies_pkey PRIMARY KEY (round_id);

ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT rounds_number_key UNIQUE (tournament_id, number);

ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT rounds_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.seal_nodes
    ADD CONSTRAINT seal_nodes_first_leaf_key UNIQUE (round_id, first_sort_key, leaves_before);

ALTER TABLE ONLY public.seal_nodes
    ADD CONSTRAINT seal_nodes_pkey PRIMARY KEY (round_id, "position");

ALTER TABLE ONLY public.seals
    ADD CONSTRAINT seals_pkey PRIMARY KEY (round_id);

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_public_key_key UNIQUE (public_key);

ALTER TABLE ONLY public.sweep_marks
    ADD CONSTRAINT sweep_marks_pkey PRIMARY KEY (sweep);

ALTER TABLE ONLY public.tournaments
    ADD CONSTRAINT tournaments_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tournaments
    ADD CONSTRAINT tournaments_tenant_key UNIQUE (id, program_id, environment);

CREATE INDEX archived_attempts_by_player ON public.archived_attempts USING btree (round_id, account_id);

CREATE INDEX attempts_by_age ON public.attempts USING btree (created_at);

CREATE INDEX attempts_by_player ON public.attempts USING btree (round_id, account_id, created_at);

CREATE UNIQUE INDEX entries_by_sort_key ON public.entries USING btree (round_id, sort_key) WHERE (sort_key IS NOT NULL);

CREATE INDEX key_uses_by_age ON public.key_uses USING brin (used_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX outbox_by_environment_and_publication ON public.outbox USING btree (environment, published_at);

CREATE INDEX refunds_due_by_age ON public.refunds_due USING btree (since, attempt_id);

CREATE INDEX refunds_due_of_live ON public.refunds_due USING btree (since, attempt_id) WHERE (environment IS DISTINCT FROM 'test'::text);

CREATE INDEX refunds_due_of_test ON public.refunds_due USING btree (since, attempt_id) WHERE (environment = 'test'::text);

CREATE INDEX round_payouts_unfinished ON public.round_payouts USING btree (created_at) WHERE (status = ANY (ARRAY['paying'::text, 'releasing'::text, 'denying'::text]));

CREATE UNIQUE INDEX rounds_one_open_per_tournament ON public.rounds USING btree (tournament_id) WHERE (status = 'open'::text);

CREATE INDEX rounds_unfinished ON public.rounds USING btree (closes_at, id) WHERE (status = ANY (ARRAY['open'::text, 'settling'::text, 'cancelling'::text]));

CREATE UNIQUE INDEX signing_keys_one_is_current ON public.signing_keys USING btree ((true)) WHERE (valid_until IS NULL);

CREATE INDEX tournaments_of_tenant ON public.tournaments USING btree (program_id, environment, created_at, id);

CREATE INDEX tournaments_with_a_round_length ON public.tournaments USING btree (id) WHERE ((status = 'active'::text) AND (round_length_seconds IS NOT NULL));

CREATE TRIGGER round_cancellations_are_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON public.round_cancellations FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change_of_cancellations();

CREATE TRIGGER round_payouts_are_of_a_round_that_ran AFTER INSERT ON public.round_payouts REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_payouts_of_rounds_that_did_not_run();

CREATE TRIGGER rounds_are_cancelled_while_open BEFORE INSERT ON public.round_cancellations FOR EACH ROW EXECUTE FUNCTION public.refuse_cancellation_of_ended_round();

CREATE TRIGGER rounds_are_open_for_entries BEFORE INSERT ON public.rounds FOR EACH ROW WHEN (((new.closes_at - GREATEST(new.opens_at, new.created_at)) < '00:11:00'::interval)) EXECUTE FUNCTION public.refuse_round_without_entries();

CREATE TRIGGER rounds_close_after_the_archive BEFORE UPDATE OF closes_at ON public.rounds FOR EACH ROW WHEN ((new.closes_at <> old.closes_at)) EXECUTE FUNCTION public.refuse_round_of_archived_month();

CREATE TRIGGER rounds_open_after_the_archive BEFORE INSERT ON public.rounds FOR EACH ROW EXECUTE FUNCTION public.refuse_round_of_archived_month();

CREATE TRIGGER rounds_terms_are_frozen BEFORE DELETE OR UPDATE ON public.rounds FOR EACH ROW EXECUTE FUNCTION public.refuse_change_of_round_terms();

CREATE CONSTRAINT TRIGGER rounds_that_are_cancelled_are_over AFTER INSERT ON public.round_cancellations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.refuse_cancellation_of_running_round();

CREATE TRIGGER signing_keys_are_kept BEFORE DELETE OR UPDATE ON public.signing_keys FOR EACH ROW EXECUTE FUNCTION public.refuse_change_of_signing_keys();

CREATE TRIGGER tournaments_terms_are_frozen BEFORE DELETE OR UPDATE ON public.tournaments FOR EACH ROW EXECUTE FUNCTION public.refuse_change_of_tournament_terms();

ALTER TABLE ONLY public.archived_batches
    ADD CONSTRAINT archived_batches_month_fkey FOREIGN KEY (month) REFERENCES public.archived_months(month);

ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES public.entries(id);

ALTER TABLE ONLY public.award_reviews
    ADD CONSTRAINT award_reviews_award_id_fkey FOREIGN KEY (award_id) REFERENCES public.round_payouts(award_id);

ALTER TABLE ONLY public.board_chunks
    ADD CONSTRAINT board_chunks_round_id_fkey FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.outcomes
    ADD CONSTRAINT outcomes_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES public.attempts(id);

ALTER TABLE ONLY public.refunds_due
    ADD CONSTRAINT refunds_due_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES public.attempts(id);

ALTER TABLE ONLY public.round_cancellations
    ADD CONSTRAINT round_cancellations_round_id_fkey FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.round_payouts
    ADD CONSTRAINT round_payouts_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES public.entries(id);

ALTER TABLE ONLY public.round_payouts
    ADD CONSTRAINT round_payouts_round_id_fkey FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.round_tallies
    ADD CONSTRAINT round_tallies_round_id_fkey FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT rounds_share_the_tenant_of_their_tournament FOREIGN KEY (tournament_id, program_id, environment) REFERENCES public.tournaments(id, program_id, environment);

ALTER TABLE ONLY public.seal_nodes
    ADD CONSTRAINT seal_nodes_round_id_fkey FOREIGN KEY (round_id) REFERENCES public.seals(round_id);

ALTER TABLE ONLY public.seals
    ADD CONSTRAINT seals_round_id_fkey FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.seals
    ADD CONSTRAINT seals_signing_key_id_fkey FOREIGN KEY (signing_key_id) REFERENCES public.signing_keys(id);
