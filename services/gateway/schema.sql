-- Derived from migrations/ by `npm run schema`; do not edit. Tables, constraints and indexes as they are after all of them.
-- The reasons of a migration, and the rows that it inserts, are there.

SET check_function_bodies = false;

CREATE FUNCTION public.drop_request_partitions() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
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

CREATE FUNCTION public.make_request_partitions() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
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

CREATE FUNCTION public.operator_actions_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'integrity_constraint_violation';
end
$$;

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    program_id uuid NOT NULL,
    environment text NOT NULL,
    key_hash bytea NOT NULL,
    prefix text NOT NULL,
    last4 text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp(3) with time zone,
    last_used_at timestamp(3) with time zone,
    window_id uuid GENERATED ALWAYS AS ((encode(substr(sha256(((((program_id)::text || ' '::text) || environment))::bytea), 1, 16), 'hex'::text))::uuid) STORED NOT NULL,
    pepper_version integer DEFAULT 1 NOT NULL,
    CONSTRAINT api_keys_environment_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT api_keys_key_hash_length CHECK ((octet_length(key_hash) = 32)),
    CONSTRAINT api_keys_last4_length CHECK ((char_length(last4) = 4)),
    CONSTRAINT api_keys_pepper_version_is_positive CHECK ((pepper_version > 0))
);

CREATE TABLE public.approvals (
    program_id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    operator text NOT NULL,
    approved_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT approvals_operator_length CHECK (((char_length(operator) >= 1) AND (char_length(operator) <= 64)))
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

CREATE TABLE public.developers (
    id uuid NOT NULL,
    email text NOT NULL,
    password_hash text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT developers_email_length CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254))),
    CONSTRAINT developers_email_lower_case CHECK ((email = lower(email)))
);

CREATE TABLE public.first_requests (
    program_id uuid NOT NULL,
    environment text NOT NULL,
    milestone text NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    CONSTRAINT first_requests_environment_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT first_requests_milestone_known CHECK ((milestone = ANY (ARRAY['key_used'::text, 'player_linked'::text, 'attempt_created'::text, 'outcome_reported'::text])))
);

CREATE TABLE public.idempotency_records (
    id uuid NOT NULL,
    operation_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    state text NOT NULL,
    generation integer NOT NULL,
    status smallint,
    created_at timestamp(3) with time zone NOT NULL,
    locked_at timestamp(3) with time zone NOT NULL,
    body text,
    CONSTRAINT idempotency_records_fingerprint_is_sha256 CHECK ((octet_length(fingerprint) = 32)),
    CONSTRAINT idempotency_records_only_success_is_stored CHECK (
CASE
    WHEN (state = 'completed'::text) THEN (((status >= 200) AND (status <= 299)) AND (body IS NOT NULL))
    ELSE ((status IS NULL) AND (body IS NULL))
END),
    CONSTRAINT idempotency_records_state_is_known CHECK ((state = ANY (ARRAY['locked'::text, 'completed'::text, 'released'::text])))
)
WITH (fillfactor='20', autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE public.known_clients (
    pair_hash bytea NOT NULL,
    last_signed_in_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT known_clients_pair_hash_length CHECK ((octet_length(pair_hash) = 32))
);

CREATE TABLE public.operator_action_results (
    action_id uuid NOT NULL,
    at timestamp(3) with time zone DEFAULT clock_timestamp() NOT NULL,
    status smallint NOT NULL,
    created text,
    after text,
    CONSTRAINT operator_action_results_status_is_http CHECK (((status >= 200) AND (status <= 599)))
);

CREATE TABLE public.operator_actions (
    id uuid NOT NULL,
    at timestamp(3) with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text,
    request text,
    before text,
    request_id text NOT NULL,
    CONSTRAINT operator_actions_action_length CHECK (((char_length(action) >= 1) AND (char_length(action) <= 64))),
    CONSTRAINT operator_actions_actor_length CHECK (((char_length(actor) >= 1) AND (char_length(actor) <= 64)))
);

CREATE TABLE public.operator_sessions (
    token_hash bytea NOT NULL,
    operator text NOT NULL,
    operator_token_hash bytea NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT operator_sessions_last_12_hours CHECK (((expires_at > created_at) AND (expires_at <= (created_at + '12:00:00'::interval)))),
    CONSTRAINT operator_sessions_operator_token_hash_length CHECK ((octet_length(operator_token_hash) = 32)),
    CONSTRAINT operator_sessions_token_hash_length CHECK ((octet_length(token_hash) = 32))
);

CREATE TABLE public.programs (
    id uuid NOT NULL,
    name text NOT NULL,
    developer_id uuid,
    status text DEFAULT 'draft'::text NOT NULL,
    deletion_scheduled boolean DEFAULT false NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    announced_version bigint DEFAULT 0 NOT NULL,
    CONSTRAINT programs_announced_version_is_not_negative CHECK ((announced_version >= 0)),
    CONSTRAINT programs_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
    CONSTRAINT programs_status_known CHECK ((status = ANY (ARRAY['draft'::text, 'approved'::text, 'suspended'::text, 'closed'::text]))),
    CONSTRAINT programs_version_is_not_negative CHECK ((version >= 0))
);

CREATE UNLOGGED TABLE public.rate_windows (
    key_id uuid NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    requests integer NOT NULL,
    last_request_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT rate_windows_requests_is_not_negative CHECK ((requests >= 0))
)
WITH (fillfactor='30');

CREATE SEQUENCE public.request_batch_numbers
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.request_batches (
    batch bigint DEFAULT nextval('public.request_batch_numbers'::regclass) NOT NULL,
    program_id uuid NOT NULL,
    environment text NOT NULL,
    first_request_id uuid NOT NULL,
    last_request_id uuid NOT NULL,
    line_count smallint NOT NULL,
    lines bytea NOT NULL,
    CONSTRAINT request_batches_environment_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT request_batches_ids_in_order CHECK ((first_request_id <= last_request_id)),
    CONSTRAINT request_batches_line_count CHECK (((line_count >= 1) AND (line_count <= 1000))),
    CONSTRAINT request_batches_lines_length CHECK ((octet_length(lines) <= 8388608))
)
PARTITION BY RANGE (last_request_id);

CREATE TABLE public.request_counts (
    program_id uuid NOT NULL,
    environment text NOT NULL,
    starts_at timestamp(3) with time zone NOT NULL,
    status smallint NOT NULL,
    error_code text NOT NULL,
    requests bigint NOT NULL,
    CONSTRAINT request_counts_environment_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT request_counts_requests_is_positive CHECK ((requests > 0))
)
WITH (fillfactor='50');

CREATE UNLOGGED TABLE public.request_windows (
    subject uuid NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    requests integer NOT NULL,
    last_request_at timestamp(3) with time zone NOT NULL,
    key_id uuid,
    CONSTRAINT request_windows_requests_is_not_negative CHECK ((requests >= 0))
)
WITH (fillfactor='30');

CREATE TABLE public.sessions (
    token_hash bytea NOT NULL,
    developer_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT sessions_end_after_they_begin CHECK ((expires_at > created_at)),
    CONSTRAINT sessions_token_hash_length CHECK ((octet_length(token_hash) = 32))
);

CREATE TABLE public.sign_in_failures (
    id uuid NOT NULL,
    email_hash bytea NOT NULL,
    address_hash bytea NOT NULL,
    failed_at timestamp(3) with time zone NOT NULL,
    from_known_client boolean DEFAULT false NOT NULL,
    CONSTRAINT sign_in_failures_address_hash_length CHECK ((octet_length(address_hash) = 32)),
    CONSTRAINT sign_in_failures_email_hash_length CHECK ((octet_length(email_hash) = 32))
);

CREATE TABLE public.sign_in_links (
    token_hash bytea NOT NULL,
    developer_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT sign_in_links_last_15_minutes CHECK (((expires_at > created_at) AND (expires_at <= (created_at + '00:15:00'::interval)))),
    CONSTRAINT sign_in_links_token_hash_length CHECK ((octet_length(token_hash) = 32))
);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_hash_unique UNIQUE (key_hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_pkey PRIMARY KEY (program_id);

ALTER TABLE ONLY public.audit_runs
    ADD CONSTRAINT audit_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.developers
    ADD CONSTRAINT developers_email_unique UNIQUE (email);

ALTER TABLE ONLY public.developers
    ADD CONSTRAINT developers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.first_requests
    ADD CONSTRAINT first_requests_pkey PRIMARY KEY (program_id, environment, milestone);

ALTER TABLE ONLY public.idempotency_records
    ADD CONSTRAINT idempotency_records_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.known_clients
    ADD CONSTRAINT known_clients_pkey PRIMARY KEY (pair_hash);

ALTER TABLE ONLY public.operator_action_results
    ADD CONSTRAINT operator_action_results_pkey PRIMARY KEY (action_id);

ALTER TABLE ONLY public.operator_actions
    ADD CONSTRAINT operator_actions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.operator_sessions
    ADD CONSTRAINT operator_sessions_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.programs
    ADD CONSTRAINT programs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.rate_windows
    ADD CONSTRAINT rate_windows_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY public.request_batches
    ADD CONSTRAINT request_batches_pkey PRIMARY KEY (last_request_id, batch);

ALTER TABLE ONLY public.request_counts
    ADD CONSTRAINT request_counts_pkey PRIMARY KEY (program_id, environment, starts_at, status, error_code);

ALTER TABLE ONLY public.request_windows
    ADD CONSTRAINT request_windows_pkey PRIMARY KEY (subject);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.sign_in_failures
    ADD CONSTRAINT sign_in_failures_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sign_in_links
    ADD CONSTRAINT sign_in_links_pkey PRIMARY KEY (token_hash);

CREATE UNIQUE INDEX api_keys_one_active ON public.api_keys USING btree (program_id, environment) WHERE (revoked_at IS NULL);

CREATE INDEX idempotency_records_created_at_brin ON public.idempotency_records USING brin (created_at) WITH (pages_per_range='32', autosummarize='on');

CREATE INDEX known_clients_by_time ON public.known_clients USING btree (last_signed_in_at);

CREATE INDEX operator_actions_by_time ON public.operator_actions USING btree (at DESC, id DESC);

CREATE INDEX programs_by_version ON public.programs USING btree (version);

CREATE INDEX programs_developer ON public.programs USING btree (developer_id) WHERE (developer_id IS NOT NULL);

CREATE INDEX programs_to_announce ON public.programs USING btree (id) WHERE (announced_version < version);

CREATE INDEX request_batches_by_number ON ONLY public.request_batches USING btree (program_id, environment, batch);

CREATE INDEX request_counts_by_start ON public.request_counts USING btree (starts_at);

CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at);

CREATE INDEX sign_in_failures_by_time ON public.sign_in_failures USING btree (failed_at);

CREATE INDEX sign_in_failures_of_address ON public.sign_in_failures USING btree (address_hash, failed_at);

CREATE INDEX sign_in_failures_of_email ON public.sign_in_failures USING btree (email_hash, failed_at);

CREATE INDEX sign_in_links_by_expiry ON public.sign_in_links USING btree (expires_at);

CREATE TRIGGER operator_action_results_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.operator_action_results FOR EACH STATEMENT EXECUTE FUNCTION public.operator_actions_refuse_change();

CREATE TRIGGER operator_actions_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.operator_actions FOR EACH STATEMENT EXECUTE FUNCTION public.operator_actions_refuse_change();

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_program_fkey FOREIGN KEY (program_id) REFERENCES public.programs(id);

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_api_key_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_keys(id);

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_program_fkey FOREIGN KEY (program_id) REFERENCES public.programs(id);

ALTER TABLE ONLY public.operator_action_results
    ADD CONSTRAINT operator_action_results_action_fkey FOREIGN KEY (action_id) REFERENCES public.operator_actions(id);

ALTER TABLE ONLY public.programs
    ADD CONSTRAINT programs_developer_fkey FOREIGN KEY (developer_id) REFERENCES public.developers(id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_developer_fkey FOREIGN KEY (developer_id) REFERENCES public.developers(id);

ALTER TABLE ONLY public.sign_in_links
    ADD CONSTRAINT sign_in_links_developer_fkey FOREIGN KEY (developer_id) REFERENCES public.developers(id);
