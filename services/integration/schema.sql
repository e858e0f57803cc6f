-- Derived from migrations/ by `npm run schema`; do not edit. Tables, constraints and indexes as they are after all of them.
-- The reasons of a migration, and the rows that it inserts, are there.

SET check_function_bodies = false;

CREATE TABLE public.integrations (
    id uuid NOT NULL,
    program_id uuid NOT NULL,
    environment text NOT NULL,
    transport text NOT NULL,
    status text NOT NULL,
    descriptor json NOT NULL,
    signing_secret bytea,
    previous_signing_secret bytea,
    pull_secret bytea,
    pull_origin text,
    pull_interval_seconds integer,
    cursor text,
    last_polled_at timestamp(3) with time zone,
    next_poll_at timestamp(3) with time zone,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    last_poll_error text,
    leased_until timestamp(3) with time zone,
    lease_number bigint DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    cursor_refusals integer DEFAULT 0 NOT NULL,
    CONSTRAINT integrations_active_push_has_a_secret CHECK (((transport <> 'push_webhook'::text) OR (status <> 'active'::text) OR (signing_secret IS NOT NULL))),
    CONSTRAINT integrations_cursor_length CHECK ((char_length(cursor) <= 2048)),
    CONSTRAINT integrations_cursor_refusals_are_below_3 CHECK (((cursor_refusals >= 0) AND (cursor_refusals <= 2))),
    CONSTRAINT integrations_descriptor_is_an_object CHECK ((json_typeof(descriptor) = 'object'::text)),
    CONSTRAINT integrations_descriptor_length CHECK ((octet_length((descriptor)::text) <= 16384)),
    CONSTRAINT integrations_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT integrations_error_goes_with_failures CHECK (((last_poll_error IS NULL) = (consecutive_failures = 0))),
    CONSTRAINT integrations_error_is_a_kind CHECK ((char_length(last_poll_error) <= 100)),
    CONSTRAINT integrations_failures_are_counted CHECK ((consecutive_failures >= 0)),
    CONSTRAINT integrations_interval_is_at_least_30 CHECK ((pull_interval_seconds >= 30)),
    CONSTRAINT integrations_intervals_are_of_polls CHECK (((pull_interval_seconds IS NULL) OR (transport = 'pull_poll'::text))),
    CONSTRAINT integrations_polls_are_due_while_active CHECK (((next_poll_at IS NOT NULL) = ((transport = 'pull_poll'::text) AND (status = 'active'::text)))),
    CONSTRAINT integrations_previous_secret_has_a_successor CHECK (((previous_signing_secret IS NULL) OR (signing_secret IS NOT NULL))),
    CONSTRAINT integrations_pull_secret_has_an_origin CHECK (((pull_secret IS NULL) OR (pull_origin IS NOT NULL))),
    CONSTRAINT integrations_secrets_are_of_pushes CHECK (((signing_secret IS NULL) OR (transport = 'push_webhook'::text))),
    CONSTRAINT integrations_status_is_known CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'suspended'::text]))),
    CONSTRAINT integrations_transport_is_known CHECK ((transport = ANY (ARRAY['push_webhook'::text, 'pull_poll'::text, 'sdk_direct'::text])))
)
WITH (fillfactor='70');

CREATE TABLE public.listened_samples (
    integration_id uuid NOT NULL,
    report_hash bytea NOT NULL,
    program_id uuid NOT NULL,
    environment text NOT NULL,
    challenge_id uuid NOT NULL,
    player_ref text NOT NULL,
    score double precision NOT NULL,
    received_at timestamp(3) with time zone NOT NULL,
    forwarded_at timestamp(3) with time zone,
    CONSTRAINT listened_samples_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT listened_samples_hash_is_sha256 CHECK ((octet_length(report_hash) = 32)),
    CONSTRAINT listened_samples_ref_length CHECK (((char_length(player_ref) >= 1) AND (char_length(player_ref) <= 255))),
    CONSTRAINT listened_samples_score_is_finite CHECK (((score <> 'NaN'::double precision) AND (score <> 'Infinity'::double precision) AND (score <> '-Infinity'::double precision)))
);

CREATE TABLE public.log_entries (
    id uuid NOT NULL,
    integration_id uuid NOT NULL,
    kind text NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    body_excerpt text NOT NULL,
    error text,
    records json NOT NULL,
    CONSTRAINT log_entries_excerpt_length CHECK ((char_length(body_excerpt) <= 1000)),
    CONSTRAINT log_entries_kind_is_known CHECK ((kind = ANY (ARRAY['push'::text, 'poll'::text]))),
    CONSTRAINT log_entries_records_are_an_array CHECK ((json_typeof(records) = 'array'::text))
);

CREATE TABLE public.programs (
    id uuid NOT NULL,
    developer_id uuid,
    open_environments text[] NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT programs_environments_are_known CHECK ((open_environments <@ ARRAY['test'::text, 'live'::text]))
);

CREATE TABLE public.report_attempts (
    integration_id uuid NOT NULL,
    report_hash bytea NOT NULL,
    attempt_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT report_attempts_hash_is_sha256 CHECK ((octet_length(report_hash) = 32))
);

ALTER TABLE ONLY public.integrations
    ADD CONSTRAINT integrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.listened_samples
    ADD CONSTRAINT listened_samples_pkey PRIMARY KEY (integration_id, report_hash);

ALTER TABLE ONLY public.log_entries
    ADD CONSTRAINT log_entries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.programs
    ADD CONSTRAINT programs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.report_attempts
    ADD CONSTRAINT report_attempts_pkey PRIMARY KEY (integration_id, report_hash);

CREATE INDEX integrations_due ON public.integrations USING btree (next_poll_at) WHERE (next_poll_at IS NOT NULL);

CREATE INDEX integrations_of_tenant ON public.integrations USING btree (program_id, environment, created_at DESC, id DESC);

CREATE INDEX listened_samples_of_challenge ON public.listened_samples USING btree (challenge_id, received_at);

CREATE INDEX listened_samples_to_forward ON public.listened_samples USING btree (received_at) WHERE (forwarded_at IS NULL);

CREATE INDEX log_entries_by_age ON public.log_entries USING btree (at);

CREATE INDEX log_entries_of_integration ON public.log_entries USING btree (integration_id, at DESC, id DESC);

ALTER TABLE ONLY public.integrations
    ADD CONSTRAINT integrations_program_id_fkey FOREIGN KEY (program_id) REFERENCES public.programs(id);

ALTER TABLE ONLY public.listened_samples
    ADD CONSTRAINT listened_samples_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES public.integrations(id);

ALTER TABLE ONLY public.log_entries
    ADD CONSTRAINT log_entries_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES public.integrations(id);

ALTER TABLE ONLY public.report_attempts
    ADD CONSTRAINT report_attempts_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES public.integrations(id);
