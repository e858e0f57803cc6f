-- Derived from migrations/ by `npm run schema`; do not edit. Tables, constraints and indexes as they are after all of them.
-- The reasons of a migration, and the rows that it inserts, are there.

SET check_function_bodies = false;

CREATE TABLE public.consumed_events (
    id uuid NOT NULL,
    consumed_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.deliveries (
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    program_id uuid,
    environment text,
    body bytea NOT NULL,
    resend_of uuid,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp(3) with time zone,
    sending_since timestamp(3) with time zone,
    leased_until timestamp(3) with time zone,
    closed_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    inserted_by xid8 DEFAULT pg_current_xact_id(),
    CONSTRAINT deliveries_are_leased_for_a_send CHECK (((leased_until IS NULL) = (sending_since IS NULL))),
    CONSTRAINT deliveries_are_leased_only_while_pending CHECK (((leased_until IS NULL) OR (status = 'pending'::text))),
    CONSTRAINT deliveries_are_sent_at_most_three_times CHECK (((attempts >= 0) AND (attempts <= 3))),
    CONSTRAINT deliveries_belong_to_a_tenant CHECK (((program_id IS NULL) = (environment IS NULL))),
    CONSTRAINT deliveries_closed_have_failed CHECK (((closed_at IS NULL) OR (status = 'failed'::text))),
    CONSTRAINT deliveries_delivered_were_sent CHECK (((status <> 'delivered'::text) OR (attempts > 0))),
    CONSTRAINT deliveries_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT deliveries_leased_were_begun CHECK (((leased_until IS NULL) OR (attempts > 0))),
    CONSTRAINT deliveries_status_is_known CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
    CONSTRAINT deliveries_wait_only_while_pending CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL)))
)
WITH (fillfactor='70');

CREATE TABLE public.delivery_attempts (
    delivery_id uuid NOT NULL,
    number integer NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    duration_ms double precision,
    dns_ms double precision,
    connect_ms double precision,
    wait_ms double precision,
    read_ms double precision,
    http_status integer,
    error_kind text,
    error text,
    response_excerpt text,
    CONSTRAINT delivery_attempts_excerpt_length CHECK ((char_length(response_excerpt) <= 1000)),
    CONSTRAINT delivery_attempts_number_is_one_of_three CHECK (((number >= 1) AND (number <= 3))),
    CONSTRAINT delivery_attempts_status_is_http CHECK (((http_status >= 100) AND (http_status <= 999)))
);

CREATE TABLE public.endpoints (
    id uuid NOT NULL,
    developer_id uuid NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    program_id uuid,
    environment text,
    description text NOT NULL,
    is_active boolean NOT NULL,
    secret bytea NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT endpoints_deleted_is_off CHECK (((deleted_at IS NULL) OR (NOT is_active))),
    CONSTRAINT endpoints_description_length CHECK ((char_length(description) <= 1000)),
    CONSTRAINT endpoints_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT endpoints_events_are_known CHECK ((events <@ ARRAY['webhook.test'::text, 'attempt.settled'::text, 'attempt.refunded'::text, 'challenge.suspended'::text, 'round.settled'::text, 'round.cancelled'::text, 'award.released'::text])),
    CONSTRAINT endpoints_url_is_https CHECK (((url ~~ 'https://%'::text) AND (char_length(url) <= 2048)))
);

CREATE TABLE public.programs (
    id uuid NOT NULL,
    developer_id uuid,
    version bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.sandbox_events (
    program_id uuid NOT NULL,
    "position" bigint NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    body bytea NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT sandbox_events_count_from_one CHECK (("position" > 0))
);

CREATE TABLE public.sandbox_logs (
    program_id uuid NOT NULL,
    last_position bigint NOT NULL,
    CONSTRAINT sandbox_logs_count_from_one CHECK ((last_position > 0))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.consumed_events
    ADD CONSTRAINT consumed_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.delivery_attempts
    ADD CONSTRAINT delivery_attempts_pkey PRIMARY KEY (delivery_id, number);

ALTER TABLE ONLY public.endpoints
    ADD CONSTRAINT endpoints_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.programs
    ADD CONSTRAINT programs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sandbox_events
    ADD CONSTRAINT sandbox_events_pkey PRIMARY KEY (program_id, "position");

ALTER TABLE ONLY public.sandbox_logs
    ADD CONSTRAINT sandbox_logs_pkey PRIMARY KEY (program_id);

CREATE INDEX consumed_events_by_age ON public.consumed_events USING btree (consumed_at);

CREATE INDEX deliveries_by_age ON public.deliveries USING btree (created_at);

CREATE INDEX deliveries_due_by_environment ON public.deliveries USING btree (endpoint_id, COALESCE(environment, 'test'::text), next_attempt_at) WHERE (status = 'pending'::text);

CREATE INDEX deliveries_failed ON public.deliveries USING btree (endpoint_id, created_at, id) WHERE (status = 'failed'::text);

CREATE INDEX deliveries_log ON public.deliveries USING btree (endpoint_id, created_at DESC, id DESC);

CREATE UNIQUE INDEX deliveries_one_per_endpoint_and_event ON public.deliveries USING btree (endpoint_id, event_id) WHERE (resend_of IS NULL);

CREATE INDEX deliveries_resends ON public.deliveries USING btree (endpoint_id, event_id) WHERE (resend_of IS NOT NULL);

CREATE INDEX deliveries_tail ON public.deliveries USING btree (endpoint_id, inserted_by, id) WHERE (inserted_by IS NOT NULL);

CREATE INDEX endpoints_deleted ON public.endpoints USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE INDEX endpoints_of_developer ON public.endpoints USING btree (developer_id, created_at, id) WHERE (deleted_at IS NULL);

CREATE INDEX sandbox_events_by_age ON public.sandbox_events USING btree (created_at);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES public.endpoints(id);

ALTER TABLE ONLY public.delivery_attempts
    ADD CONSTRAINT delivery_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES public.deliveries(id) ON DELETE CASCADE;
