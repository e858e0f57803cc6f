-- Derived from migrations/ by `npm run schema`; do not edit. Tables, constraints and indexes as they are after all of them.
-- The reasons of a migration, and the rows that it inserts, are there.

SET check_function_bodies = false;

CREATE FUNCTION public.archived_totals_differ(totals jsonb, from_id uuid, until_id uuid) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.begin_archived_month(of_month text, manifest bytea, totals jsonb, batch_ends uuid[], batch_attempts integer[], batch_digests bytea[]) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '300ms'
    SET enable_hashjoin TO 'on'
    AS $$
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

CREATE FUNCTION public.follow_drift_of_challenge() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if new.cause = 'drift' then
    update challenges set suspended_by_drift = true where id = new.challenge_id and not suspended_by_drift;
  elsif new.to_status not in ('suspended', 'closed') then
    update challenges set suspended_by_drift = false where id = new.challenge_id and suspended_by_drift;
  end if;
  return null;
end
$$;

CREATE FUNCTION public.least_id_at(instant timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select rpad(lpad(to_hex((extract(epoch from instant) * 1000)::bigint), 12, '0'), 32, '0')::uuid;
$$;

CREATE FUNCTION public.raise_challenge_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.version := old.version + 1;
  return new;
end
$$;

CREATE FUNCTION public.ramp_reported_bar() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if new.threshold is null or new.ramped_from is not null then return new; end if;
  if tg_op = 'INSERT' then
    if new.calibration_source = 'observed' then return new; end if;
  elsif old.threshold is not null then
    return new;
  end if;
  new.ramped_from := new.created_at;
  return new;
end
$$;

CREATE FUNCTION public.refuse_change_of_challenge_terms() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
  changing constant text[] := array[
    'status', 'threshold', 'calibration_source', 'ramped_from', 'ramp_completed_at', 'suspended_by_drift', 'version'];
begin
  if tg_op = 'DELETE' then
    raise exception 'challenges are never deleted' using errcode = 'restrict_violation', constraint = 'challenges_are_kept';
  end if;
  if to_jsonb(new) - changing is distinct from to_jsonb(old) - changing then
    raise exception 'the terms of a challenge never change'
      using errcode = 'restrict_violation', constraint = 'challenges_terms_are_frozen';
  end if;
  if old.threshold is not null and (new.threshold is distinct from old.threshold or new.calibration_source <> old.calibration_source) then
    raise exception 'the bar of a challenge is set once'
      using errcode = 'restrict_violation', constraint = 'challenges_bar_is_frozen';
  end if;
  if old.status = 'closed' and new.status <> 'closed' then
    raise exception 'a closed challenge stays closed'
      using errcode = 'restrict_violation', constraint = 'challenges_closing_is_final';
  end if;
  if old.ramped_from is not null and new.ramped_from is distinct from old.ramped_from then
    raise exception 'a ramp is begun once'
      using errcode = 'restrict_violation', constraint = 'challenges_ramp_is_begun_once';
  end if;
  if old.ramp_completed_at is not null and new.ramp_completed_at is distinct from old.ramp_completed_at then
    raise exception 'a completed ramp stays completed'
      using errcode = 'restrict_violation', constraint = 'challenges_ramp_is_completed_once';
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

CREATE TABLE public.archived_attempts (
    id uuid NOT NULL,
    challenge_id uuid NOT NULL,
    account_id uuid,
    player_ref text NOT NULL,
    status text NOT NULL,
    fee_cents bigint NOT NULL,
    prize_cents bigint NOT NULL,
    threshold double precision,
    created_at timestamp(3) with time zone NOT NULL,
    fee_generation integer NOT NULL,
    closed_reason text,
    score double precision,
    met_threshold boolean,
    recorded_at timestamp(3) with time zone,
    receipt_id uuid,
    CONSTRAINT archived_attempts_closed_reason_length CHECK (((char_length(closed_reason) >= 1) AND (char_length(closed_reason) <= 1000))),
    CONSTRAINT archived_attempts_closed_with_a_reason CHECK (((status = ANY (ARRAY['voided'::text, 'refused'::text])) = (closed_reason IS NOT NULL))),
    CONSTRAINT archived_attempts_fee_generation_is_not_negative CHECK ((fee_generation >= 0)),
    CONSTRAINT archived_attempts_fee_is_not_negative CHECK ((fee_cents >= 0)),
    CONSTRAINT archived_attempts_free_without_bar CHECK ((((fee_cents = 0) = (threshold IS NULL)) AND ((prize_cents = 0) = (threshold IS NULL)))),
    CONSTRAINT archived_attempts_have_ended CHECK ((status = ANY (ARRAY['settled'::text, 'expired'::text, 'voided'::text, 'refused'::text]))),
    CONSTRAINT archived_attempts_paid_by_an_account CHECK (((fee_cents = 0) OR (account_id IS NOT NULL))),
    CONSTRAINT archived_attempts_player_ref_length CHECK (((char_length(player_ref) >= 1) AND (char_length(player_ref) <= 255))),
    CONSTRAINT archived_attempts_prize_is_not_negative CHECK ((prize_cents >= 0)),
    CONSTRAINT archived_attempts_refused_with_a_fee CHECK (((fee_cents > 0) OR (status <> 'refused'::text))),
    CONSTRAINT archived_attempts_score_is_finite CHECK (((score > '-Infinity'::double precision) AND (score < 'Infinity'::double precision))),
    CONSTRAINT archived_attempts_settled_with_an_outcome CHECK ((num_nulls(score, met_threshold, recorded_at, receipt_id) =
CASE status
    WHEN 'settled'::text THEN 0
    ELSE 4
END)),
    CONSTRAINT archived_attempts_threshold_is_finite CHECK (((threshold > '-Infinity'::double precision) AND (threshold < 'Infinity'::double precision)))
);

CREATE TABLE public.attempts (
    id uuid NOT NULL,
    challenge_id uuid NOT NULL,
    account_id uuid,
    player_ref text NOT NULL,
    status text NOT NULL,
    fee_cents bigint NOT NULL,
    prize_cents bigint NOT NULL,
    threshold double precision,
    metadata text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    disqualified_at timestamp(3) with time zone,
    fee_generation integer DEFAULT 0 NOT NULL,
    closed_reason text,
    CONSTRAINT attempts_closed_reason_length CHECK (((char_length(closed_reason) >= 1) AND (char_length(closed_reason) <= 1000))),
    CONSTRAINT attempts_closed_with_a_reason CHECK (((status = ANY (ARRAY['voiding'::text, 'voided'::text, 'refused'::text])) = (closed_reason IS NOT NULL))),
    CONSTRAINT attempts_disqualified_never_settles CHECK (((disqualified_at IS NULL) OR (status <> ALL (ARRAY['pending'::text, 'settled'::text, 'refused'::text])))),
    CONSTRAINT attempts_fee_generation_is_not_negative CHECK ((fee_generation >= 0)),
    CONSTRAINT attempts_fee_is_not_negative CHECK ((fee_cents >= 0)),
    CONSTRAINT attempts_free_without_bar CHECK ((((fee_cents = 0) = (threshold IS NULL)) AND ((prize_cents = 0) = (threshold IS NULL)))),
    CONSTRAINT attempts_metadata_is_an_object CHECK ((metadata IS JSON OBJECT)),
    CONSTRAINT attempts_metadata_length CHECK ((octet_length(metadata) <= 16384)),
    CONSTRAINT attempts_only_fees_are_awaited CHECK (((fee_cents > 0) OR (status <> ALL (ARRAY['pending'::text, 'expiring'::text, 'voiding'::text, 'refused'::text])))),
    CONSTRAINT attempts_paid_by_an_account CHECK (((fee_cents = 0) OR (account_id IS NOT NULL))),
    CONSTRAINT attempts_player_ref_length CHECK (((char_length(player_ref) >= 1) AND (char_length(player_ref) <= 255))),
    CONSTRAINT attempts_prize_is_not_negative CHECK ((prize_cents >= 0)),
    CONSTRAINT attempts_status_is_known CHECK ((status = ANY (ARRAY['pending'::text, 'open'::text, 'settled'::text, 'expiring'::text, 'expired'::text, 'voiding'::text, 'voided'::text, 'refused'::text]))),
    CONSTRAINT attempts_threshold_is_finite CHECK (((threshold > '-Infinity'::double precision) AND (threshold < 'Infinity'::double precision)))
)
WITH (fillfactor='50');

CREATE VIEW public.all_attempts AS
 SELECT attempts.id,
    attempts.challenge_id,
    attempts.account_id,
    attempts.player_ref,
    attempts.status,
    attempts.fee_cents,
    attempts.prize_cents,
    attempts.threshold,
    attempts.created_at,
    attempts.fee_generation,
    attempts.closed_reason
   FROM public.attempts
UNION ALL
 SELECT archived_attempts.id,
    archived_attempts.challenge_id,
    archived_attempts.account_id,
    archived_attempts.player_ref,
    archived_attempts.status,
    archived_attempts.fee_cents,
    archived_attempts.prize_cents,
    archived_attempts.threshold,
    archived_attempts.created_at,
    archived_attempts.fee_generation,
    archived_attempts.closed_reason
   FROM public.archived_attempts;

CREATE TABLE public.outcomes (
    attempt_id uuid NOT NULL,
    receipt_id uuid NOT NULL,
    score double precision NOT NULL,
    met_threshold boolean NOT NULL,
    recorded_at timestamp(3) with time zone NOT NULL,
    receipt text NOT NULL,
    signature bytea NOT NULL,
    signing_key_id integer NOT NULL,
    CONSTRAINT outcomes_score_is_finite CHECK (((score > '-Infinity'::double precision) AND (score < 'Infinity'::double precision))),
    CONSTRAINT outcomes_signature_length CHECK ((octet_length(signature) = 64))
);

CREATE VIEW public.all_outcomes AS
 SELECT outcomes.attempt_id,
    outcomes.receipt_id,
    outcomes.score,
    outcomes.met_threshold,
    outcomes.recorded_at
   FROM public.outcomes
UNION ALL
 SELECT archived_attempts.id AS attempt_id,
    archived_attempts.receipt_id,
    archived_attempts.score,
    archived_attempts.met_threshold,
    archived_attempts.recorded_at
   FROM public.archived_attempts;

CREATE TABLE public.archived_batches (
    month text NOT NULL,
    number integer NOT NULL,
    least_id uuid NOT NULL,
    end_id uuid NOT NULL,
    attempts integer NOT NULL,
    digest bytea NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT archived_batches_digest_length CHECK ((octet_length(digest) = 32)),
    CONSTRAINT archived_batches_have_attempts CHECK ((attempts >= 1)),
    CONSTRAINT archived_batches_number_is_positive CHECK ((number >= 1)),
    CONSTRAINT archived_batches_range_is_in_order CHECK ((least_id < end_id))
);

CREATE TABLE public.archived_months (
    month text NOT NULL,
    least_id uuid NOT NULL,
    end_id uuid NOT NULL,
    manifest_sha256 bytea NOT NULL,
    totals jsonb NOT NULL,
    begun_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT archived_months_deleted_after_they_begin CHECK ((deleted_at >= begun_at)),
    CONSTRAINT archived_months_manifest_sha256_length CHECK ((octet_length(manifest_sha256) = 32)),
    CONSTRAINT archived_months_month_is_a_month CHECK ((month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'::text)),
    CONSTRAINT archived_months_range_is_in_order CHECK ((least_id < end_id))
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

CREATE TABLE public.awards (
    id uuid NOT NULL,
    attempt_id uuid NOT NULL,
    challenge_id uuid NOT NULL,
    account_id uuid NOT NULL,
    amount_cents bigint NOT NULL,
    status text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    paid_at timestamp(3) with time zone,
    CONSTRAINT awards_amount_is_positive CHECK ((amount_cents > 0)),
    CONSTRAINT awards_paid_at_follows_status CHECK (((status = 'paid'::text) = (paid_at IS NOT NULL))),
    CONSTRAINT awards_status_is_known CHECK ((status = ANY ('{paying,holding,paid,held,releasing,denying,denied}'::text[])))
);

CREATE TABLE public.bar_samples (
    challenge_id uuid NOT NULL,
    sample_id uuid CONSTRAINT bar_samples_attempt_id_not_null NOT NULL,
    player text NOT NULL,
    score double precision NOT NULL,
    CONSTRAINT bar_samples_score_is_finite CHECK (((score > '-Infinity'::double precision) AND (score < 'Infinity'::double precision)))
)
WITH (autovacuum_vacuum_insert_scale_factor='0.02');

CREATE TABLE public.calibration_players (
    challenge_id uuid NOT NULL,
    player text NOT NULL,
    samples integer NOT NULL,
    fair_share integer NOT NULL,
    CONSTRAINT calibration_players_keep_their_share CHECK (((samples >= 1) AND (samples <= fair_share)))
);

CREATE TABLE public.calibrations (
    challenge_id uuid NOT NULL,
    collected bigint NOT NULL,
    players bigint NOT NULL,
    anchor_score double precision,
    anchor_below bigint,
    anchor_at_or_below bigint,
    CONSTRAINT calibrations_anchor_is_a_sample CHECK (((anchor_below >= 0) AND (anchor_below < anchor_at_or_below) AND (anchor_at_or_below <= collected))),
    CONSTRAINT calibrations_anchor_is_whole CHECK ((num_nulls(anchor_score, anchor_below, anchor_at_or_below) = ANY (ARRAY[0, 3]))),
    CONSTRAINT calibrations_players_have_samples CHECK (((players >= 0) AND (collected >= players)))
);

CREATE TABLE public.challenges (
    id uuid NOT NULL,
    program_id uuid NOT NULL,
    environment text NOT NULL,
    status text NOT NULL,
    name text NOT NULL,
    description text,
    fee_cents bigint NOT NULL,
    prize_cents bigint NOT NULL,
    prize_structure text NOT NULL,
    top_n integer,
    metric_name text NOT NULL,
    metric_unit text NOT NULL,
    threshold_direction text NOT NULL,
    threshold double precision,
    calibration_source text NOT NULL,
    score_min double precision,
    score_max double precision,
    target_pass_rate double precision NOT NULL,
    integrity_tier integer NOT NULL,
    min_calibration_n integer NOT NULL,
    min_calibration_players integer NOT NULL,
    daily_attempt_cap integer NOT NULL,
    required_verification_level integer NOT NULL,
    jurisdictions text[] NOT NULL,
    parent_challenge_id uuid,
    rung integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    ramp_completed_at timestamp(3) with time zone,
    ramped_from timestamp(3) with time zone,
    suspended_by_drift boolean DEFAULT false NOT NULL,
    CONSTRAINT challenges_calibration_floors_are_positive CHECK (((min_calibration_n >= 1) AND (min_calibration_players >= 1))),
    CONSTRAINT challenges_calibration_source_is_known CHECK ((calibration_source = ANY (ARRAY['observed'::text, 'listened'::text, 'partner_seeded'::text, 'rung_derived'::text]))),
    CONSTRAINT challenges_daily_attempt_cap_is_positive CHECK ((daily_attempt_cap >= 1)),
    CONSTRAINT challenges_description_length CHECK ((char_length(description) <= 2000)),
    CONSTRAINT challenges_direction_is_known CHECK ((threshold_direction = ANY (ARRAY['higher_is_better'::text, 'lower_is_better'::text]))),
    CONSTRAINT challenges_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT challenges_fee_is_positive CHECK ((fee_cents > 0)),
    CONSTRAINT challenges_integrity_tier_is_known CHECK (((integrity_tier >= 1) AND (integrity_tier <= 3))),
    CONSTRAINT challenges_metric_name_length CHECK (((char_length(metric_name) >= 1) AND (char_length(metric_name) <= 255))),
    CONSTRAINT challenges_metric_unit_length CHECK (((char_length(metric_unit) >= 1) AND (char_length(metric_unit) <= 255))),
    CONSTRAINT challenges_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
    CONSTRAINT challenges_prize_is_positive CHECK ((prize_cents > 0)),
    CONSTRAINT challenges_prize_structure_is_known CHECK ((prize_structure = ANY (ARRAY['threshold'::text, 'top_n'::text]))),
    CONSTRAINT challenges_ramp_is_begun CHECK (((ramp_completed_at IS NULL) OR (ramped_from IS NOT NULL))),
    CONSTRAINT challenges_ramp_needs_a_bar CHECK (((ramped_from IS NULL) OR (threshold IS NOT NULL))),
    CONSTRAINT challenges_rung_follows_parent CHECK ((((parent_challenge_id IS NULL) = (rung = 1)) AND (rung >= 1))),
    CONSTRAINT challenges_score_bounds_are_finite CHECK (((score_min > '-Infinity'::double precision) AND (score_min < 'Infinity'::double precision) AND (score_max > '-Infinity'::double precision) AND (score_max < 'Infinity'::double precision))),
    CONSTRAINT challenges_score_bounds_are_in_order CHECK ((score_min <= score_max)),
    CONSTRAINT challenges_status_is_known CHECK ((status = ANY (ARRAY['calibrating'::text, 'live'::text, 'suspended'::text, 'closed'::text]))),
    CONSTRAINT challenges_target_pass_rate_is_a_rate CHECK (((target_pass_rate > (0)::double precision) AND (target_pass_rate < (1)::double precision))),
    CONSTRAINT challenges_threshold_follows_status CHECK (
CASE
    WHEN (prize_structure = 'top_n'::text) THEN ((threshold IS NULL) AND (status <> 'calibrating'::text))
    WHEN (status = 'calibrating'::text) THEN (threshold IS NULL)
    WHEN (status = 'live'::text) THEN (threshold IS NOT NULL)
    ELSE true
END),
    CONSTRAINT challenges_threshold_is_finite CHECK (((threshold > '-Infinity'::double precision) AND (threshold < 'Infinity'::double precision))),
    CONSTRAINT challenges_top_n_has_its_n CHECK ((((prize_structure = 'top_n'::text) = (top_n IS NOT NULL)) AND ((top_n IS NULL) OR (top_n >= 1)))),
    CONSTRAINT challenges_verification_level_is_known CHECK (((required_verification_level >= 0) AND (required_verification_level <= 3))),
    CONSTRAINT challenges_version_is_positive CHECK ((version >= 1))
);

CREATE TABLE public.drift_monitors (
    challenge_id uuid NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    attempts bigint NOT NULL,
    passes bigint NOT NULL,
    counts_after bigint DEFAULT 0 NOT NULL,
    CONSTRAINT drift_monitors_passes_are_attempts CHECK (((passes >= 0) AND (passes <= attempts)))
)
WITH (fillfactor='50');

CREATE TABLE public.drift_readings (
    challenge_id uuid NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    attempts bigint NOT NULL,
    passes bigint NOT NULL,
    log_ratio_above double precision NOT NULL,
    log_ratio_below double precision NOT NULL,
    read_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT drift_readings_passes_are_attempts CHECK (((passes >= 0) AND (passes <= attempts)))
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

CREATE TABLE public.ramp_slots (
    challenge_id uuid NOT NULL,
    slot smallint NOT NULL,
    attempt_id uuid NOT NULL,
    CONSTRAINT ramp_slots_are_a_hundred CHECK (((slot >= 1) AND (slot <= 100)))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE public.refunds_due (
    attempt_id uuid NOT NULL,
    since timestamp(3) with time zone NOT NULL,
    environment text,
    CONSTRAINT refunds_due_environment_is_known CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text])))
);

CREATE TABLE public.seeded_distributions (
    challenge_id uuid NOT NULL,
    operation_id uuid NOT NULL,
    p5 double precision NOT NULL,
    p25 double precision NOT NULL,
    p50 double precision NOT NULL,
    p75 double precision NOT NULL,
    p95 double precision NOT NULL,
    sample_size bigint NOT NULL,
    threshold double precision NOT NULL,
    seeded_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT seeded_distributions_ascend CHECK (((p5 > '-Infinity'::double precision) AND (p5 < p25) AND (p25 < p50) AND (p50 < p75) AND (p75 < p95) AND (p95 < 'Infinity'::double precision))),
    CONSTRAINT seeded_distributions_sample_size_floor CHECK ((sample_size >= 500)),
    CONSTRAINT seeded_distributions_threshold_is_clamped CHECK (((threshold >= p5) AND (threshold <= p95)))
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

CREATE TABLE public.status_changes (
    id bigint NOT NULL,
    challenge_id uuid NOT NULL,
    changed_at timestamp(3) with time zone NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    cause text NOT NULL,
    note text,
    attempts bigint,
    passes bigint,
    log_ratio_above double precision,
    log_ratio_below double precision,
    CONSTRAINT status_changes_cause_is_known CHECK ((cause = ANY (ARRAY['calibrated'::text, 'seeded'::text, 'drift'::text, 'ramp'::text, 'operator'::text]))),
    CONSTRAINT status_changes_monitor_states_its_evidence CHECK ((((cause = ANY (ARRAY['drift'::text, 'ramp'::text])) = (attempts IS NOT NULL)) AND (num_nulls(attempts, passes, log_ratio_above, log_ratio_below) = ANY (ARRAY[0, 4])))),
    CONSTRAINT status_changes_note_length CHECK (((char_length(note) >= 1) AND (char_length(note) <= 2000))),
    CONSTRAINT status_changes_statuses_are_known CHECK (((from_status = ANY (ARRAY['calibrating'::text, 'live'::text, 'suspended'::text, 'closed'::text])) AND (to_status = ANY (ARRAY['calibrating'::text, 'live'::text, 'suspended'::text, 'closed'::text]))))
);

ALTER TABLE public.status_changes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.status_changes_id_seq
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

CREATE TABLE public.unmonitored_outcomes (
    id bigint NOT NULL,
    challenge_ids uuid[] NOT NULL,
    passed boolean[] NOT NULL,
    CONSTRAINT unmonitored_outcomes_are_not_empty CHECK (((cardinality(passed) >= 1) AND (cardinality(challenge_ids) = cardinality(passed))))
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE public.unmonitored_outcomes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.unmonitored_outcomes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY public.archived_attempts
    ADD CONSTRAINT archived_attempts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.archived_attempts
    ADD CONSTRAINT archived_attempts_receipt_id_key UNIQUE (receipt_id);

ALTER TABLE ONLY public.archived_batches
    ADD CONSTRAINT archived_batches_least_id_key UNIQUE (least_id);

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

ALTER TABLE ONLY public.awards
    ADD CONSTRAINT awards_one_per_attempt UNIQUE (attempt_id);

ALTER TABLE ONLY public.awards
    ADD CONSTRAINT awards_one_per_challenge_and_account UNIQUE (challenge_id, account_id);

ALTER TABLE ONLY public.awards
    ADD CONSTRAINT awards_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bar_samples
    ADD CONSTRAINT bar_samples_pkey PRIMARY KEY (challenge_id, sample_id);

ALTER TABLE ONLY public.calibration_players
    ADD CONSTRAINT calibration_players_pkey PRIMARY KEY (challenge_id, player);

ALTER TABLE ONLY public.calibrations
    ADD CONSTRAINT calibrations_pkey PRIMARY KEY (challenge_id);

ALTER TABLE ONLY public.challenges
    ADD CONSTRAINT challenges_ladder_key UNIQUE (id, program_id, environment, threshold_direction);

ALTER TABLE ONLY public.challenges
    ADD CONSTRAINT challenges_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.drift_monitors
    ADD CONSTRAINT drift_monitors_pkey PRIMARY KEY (challenge_id);

ALTER TABLE ONLY public.drift_readings
    ADD CONSTRAINT drift_readings_pkey PRIMARY KEY (challenge_id, started_at, attempts);

ALTER TABLE ONLY public.key_uses
    ADD CONSTRAINT key_uses_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY public.outcomes
    ADD CONSTRAINT outcomes_pkey PRIMARY KEY (attempt_id);

ALTER TABLE ONLY public.outcomes
    ADD CONSTRAINT outcomes_receipt_id_key UNIQUE (receipt_id);

ALTER TABLE ONLY public.ramp_slots
    ADD CONSTRAINT ramp_slots_one_for_each_attempt UNIQUE (attempt_id);

ALTER TABLE ONLY public.ramp_slots
    ADD CONSTRAINT ramp_slots_pkey PRIMARY KEY (challenge_id, slot);

ALTER TABLE ONLY public.refunds_due
    ADD CONSTRAINT refunds_due_pkey PRIMARY KEY (attempt_id);

ALTER TABLE ONLY public.seeded_distributions
    ADD CONSTRAINT seeded_distributions_operation_id_key UNIQUE (operation_id);

ALTER TABLE ONLY public.seeded_distributions
    ADD CONSTRAINT seeded_distributions_pkey PRIMARY KEY (challenge_id);

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_public_key_key UNIQUE (public_key);

ALTER TABLE ONLY public.status_changes
    ADD CONSTRAINT status_changes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sweep_marks
    ADD CONSTRAINT sweep_marks_pkey PRIMARY KEY (sweep);

ALTER TABLE ONLY public.unmonitored_outcomes
    ADD CONSTRAINT unmonitored_outcomes_pkey PRIMARY KEY (id);

CREATE INDEX attempts_by_age ON public.attempts USING btree (created_at);

CREATE INDEX attempts_by_player ON public.attempts USING btree (challenge_id, account_id, created_at);

CREATE INDEX attempts_by_unlinked_ref ON public.attempts USING btree (challenge_id, player_ref, created_at) WHERE (account_id IS NULL);

CREATE INDEX awards_holding ON public.awards USING btree (created_at) WHERE (status = 'holding'::text);

CREATE INDEX awards_unfinished ON public.awards USING btree (created_at) WHERE (status = ANY (ARRAY['paying'::text, 'releasing'::text, 'denying'::text]));

CREATE INDEX bar_samples_by_score ON public.bar_samples USING btree (challenge_id, score);

CREATE INDEX challenges_of_tenant ON public.challenges USING btree (program_id, environment, created_at, id);

CREATE INDEX key_uses_by_age ON public.key_uses USING brin (used_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX outbox_by_environment_and_publication ON public.outbox USING btree (environment, published_at);

CREATE INDEX refunds_due_of_live ON public.refunds_due USING btree (since, attempt_id) WHERE (environment IS DISTINCT FROM 'test'::text);

CREATE INDEX refunds_due_of_test ON public.refunds_due USING btree (since, attempt_id) WHERE (environment = 'test'::text);

CREATE UNIQUE INDEX signing_keys_one_is_current ON public.signing_keys USING btree ((true)) WHERE (valid_until IS NULL);

CREATE INDEX status_changes_of_challenge ON public.status_changes USING btree (challenge_id, id);

CREATE TRIGGER challenges_bar_is_ramped BEFORE INSERT OR UPDATE ON public.challenges FOR EACH ROW EXECUTE FUNCTION public.ramp_reported_bar();

CREATE TRIGGER challenges_terms_are_frozen BEFORE DELETE OR UPDATE ON public.challenges FOR EACH ROW EXECUTE FUNCTION public.refuse_change_of_challenge_terms();

CREATE TRIGGER challenges_version_rises BEFORE UPDATE ON public.challenges FOR EACH ROW EXECUTE FUNCTION public.raise_challenge_version();

CREATE TRIGGER signing_keys_are_kept BEFORE DELETE OR UPDATE ON public.signing_keys FOR EACH ROW EXECUTE FUNCTION public.refuse_change_of_signing_keys();

CREATE TRIGGER status_changes_mark_drift AFTER INSERT ON public.status_changes FOR EACH ROW EXECUTE FUNCTION public.follow_drift_of_challenge();

ALTER TABLE ONLY public.archived_batches
    ADD CONSTRAINT archived_batches_month_fkey FOREIGN KEY (month) REFERENCES public.archived_months(month);

ALTER TABLE ONLY public.award_reviews
    ADD CONSTRAINT award_reviews_award_id_fkey FOREIGN KEY (award_id) REFERENCES public.awards(id);

ALTER TABLE ONLY public.calibration_players
    ADD CONSTRAINT calibration_players_challenge_id_fkey FOREIGN KEY (challenge_id) REFERENCES public.challenges(id);

ALTER TABLE ONLY public.calibrations
    ADD CONSTRAINT calibrations_challenge_id_fkey FOREIGN KEY (challenge_id) REFERENCES public.challenges(id);

ALTER TABLE ONLY public.challenges
    ADD CONSTRAINT challenges_parent_shares_tenant_and_direction FOREIGN KEY (parent_challenge_id, program_id, environment, threshold_direction) REFERENCES public.challenges(id, program_id, environment, threshold_direction);

ALTER TABLE ONLY public.drift_monitors
    ADD CONSTRAINT drift_monitors_challenge_id_fkey FOREIGN KEY (challenge_id) REFERENCES public.challenges(id);

ALTER TABLE ONLY public.drift_readings
    ADD CONSTRAINT drift_readings_challenge_id_fkey FOREIGN KEY (challenge_id) REFERENCES public.challenges(id);

ALTER TABLE ONLY public.outcomes
    ADD CONSTRAINT outcomes_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES public.attempts(id);

ALTER TABLE ONLY public.ramp_slots
    ADD CONSTRAINT ramp_slots_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES public.attempts(id);

ALTER TABLE ONLY public.ramp_slots
    ADD CONSTRAINT ramp_slots_challenge_id_fkey FOREIGN KEY (challenge_id) REFERENCES public.challenges(id);

ALTER TABLE ONLY public.refunds_due
    ADD CONSTRAINT refunds_due_attempt_id_fkey FOREIGN KEY (attempt_id) REFERENCES public.attempts(id);

ALTER TABLE ONLY public.seeded_distributions
    ADD CONSTRAINT seeded_distributions_challenge_id_fkey FOREIGN KEY (challenge_id) REFERENCES public.challenges(id);

ALTER TABLE ONLY public.status_changes
    ADD CONSTRAINT status_changes_challenge_id_fkey FOREIGN KEY (challenge_id) REFERENCES public.challenges(id);
