-- Derived from migrations/ by `npm run schema`; do not edit. Tables, constraints and indexes as they are after all of them.
-- The reasons of a migration, and the rows that it inserts, are there.

SET check_function_bodies = false;

CREATE FUNCTION public.ledger_accounts_refuse_removal() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'accounts of the ledger are kept: % refused', lower(tg_op) using errcode = 'integrity_constraint_violation';
end
$$;

CREATE FUNCTION public.payout_decisions_match_payout() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  if not exists (
    select from payouts
    where payouts.award_id = new.award_id and payouts.reason is not null
      and case new.decision
        when 'released' then payouts.status = 'paid' and payouts.paid_at = new.decided_at
        else payouts.status = 'denied' and payouts.denied_at = new.decided_at
      end
  ) then
    raise exception 'the payout % was not held and then % at that instant', new.award_id, new.decision
      using errcode = 'integrity_constraint_violation', constraint = 'payout_decisions_match_their_payout';
  end if;
  return new;
end
$$;

CREATE FUNCTION public.payout_decisions_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'decisions on payouts are final: % refused', lower(tg_op)
    using errcode = 'integrity_constraint_violation', constraint = tg_name;
end
$$;

CREATE FUNCTION public.refuse_change_of_people() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'the e-mail and date of birth of a person never change'
    using errcode = 'restrict_violation', constraint = 'accounts_people_stay_who_they_are';
end
$$;

CREATE FUNCTION public.transfers_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  raise exception 'transfers are append-only: % refused', lower(tg_op) using errcode = 'integrity_constraint_violation';
end
$$;

CREATE TABLE public.accounts (
    id uuid NOT NULL,
    email text NOT NULL COLLATE pg_catalog."C",
    date_of_birth date NOT NULL,
    jurisdiction text NOT NULL,
    verification_level smallint NOT NULL,
    self_excluded_until timestamp(3) with time zone,
    enforcement_flag boolean DEFAULT false NOT NULL,
    under_investigation boolean DEFAULT false NOT NULL,
    blocked boolean DEFAULT false NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    house_id uuid NOT NULL,
    fee_limit_cents bigint,
    CONSTRAINT accounts_date_of_birth_is_within_bounds CHECK (((date_of_birth >= '1900-01-01'::date) AND (date_of_birth <= '9999-01-01'::date))),
    CONSTRAINT accounts_email_is_lower_case CHECK ((email = lower(email))),
    CONSTRAINT accounts_email_length CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254))),
    CONSTRAINT accounts_fee_limit_never_below_zero CHECK ((fee_limit_cents >= 0)),
    CONSTRAINT accounts_jurisdiction_is_a_code CHECK ((jurisdiction ~ '^[A-Z]{2}(-[A-Z0-9]{1,3})?$'::text)),
    CONSTRAINT accounts_self_exclusion_ends_within_bounds CHECK (((self_excluded_until >= '1900-01-01 00:00:00+00'::timestamp with time zone) AND (self_excluded_until <= '9999-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT accounts_verification_level_in_range CHECK (((verification_level >= 0) AND (verification_level <= 3)))
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

CREATE TABLE public.day_counts (
    id smallint NOT NULL,
    next_run_at timestamp(3) with time zone NOT NULL,
    open_from date NOT NULL,
    counted_at timestamp(3) with time zone,
    environments_open_from date,
    CONSTRAINT day_counts_is_one_row CHECK ((id = 1))
);

CREATE TABLE public.environment_days (
    day date NOT NULL,
    environment text NOT NULL,
    fees_cents bigint NOT NULL,
    refunds_cents bigint NOT NULL,
    paid_cents bigint NOT NULL,
    held_cents bigint NOT NULL,
    denied_cents bigint NOT NULL,
    CONSTRAINT environment_days_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT environment_days_never_below_zero CHECK ((LEAST(fees_cents, refunds_cents, paid_cents, held_cents, denied_cents) >= 0))
);

CREATE TABLE public.houses (
    id uuid NOT NULL,
    environment text NOT NULL,
    CONSTRAINT houses_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT houses_one_is_live CHECK (((environment = 'live'::text) = (id = '00000000-0000-8000-8000-000000000020'::uuid)))
);

CREATE TABLE public.insiders (
    program_id uuid NOT NULL,
    account_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.ledger_accounts (
    id uuid NOT NULL,
    kind text NOT NULL,
    environment text NOT NULL,
    account_id uuid,
    balance_cents bigint DEFAULT 0 NOT NULL,
    may_overdraw boolean DEFAULT false NOT NULL,
    hold_next_award boolean DEFAULT false NOT NULL,
    house_id uuid NOT NULL,
    CONSTRAINT ledger_accounts_environment_is_known CHECK ((environment = ANY ('{test,live}'::text[]))),
    CONSTRAINT ledger_accounts_hold_is_sandbox_only CHECK (((NOT hold_next_award) OR ((account_id IS NOT NULL) AND (environment = 'test'::text)))),
    CONSTRAINT ledger_accounts_kind_is_known CHECK ((kind = ANY ('{player,house_fees,house_prizes,house_purses,external_cash}'::text[]))),
    CONSTRAINT ledger_accounts_never_overdrawn CHECK ((may_overdraw OR (balance_cents >= 0))),
    CONSTRAINT ledger_accounts_only_the_house_overdraws CHECK ((may_overdraw = (account_id IS NULL))),
    CONSTRAINT ledger_accounts_player_has_account CHECK (((kind = 'player'::text) = (account_id IS NOT NULL)))
)
WITH (fillfactor='50');

CREATE TABLE public.payout_decisions (
    award_id uuid NOT NULL,
    decision text NOT NULL,
    operator text NOT NULL,
    reason text,
    decided_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT payout_decisions_decision_is_known CHECK ((decision = ANY (ARRAY['released'::text, 'denied'::text]))),
    CONSTRAINT payout_decisions_operator_length CHECK (((char_length(operator) >= 1) AND (char_length(operator) <= 64))),
    CONSTRAINT payout_decisions_reason_has_words CHECK ((reason ~ '[^ \t\n\r]'::text)),
    CONSTRAINT payout_decisions_reason_length CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 1000)))
);

CREATE TABLE public.payouts (
    award_id uuid NOT NULL,
    attempt_id uuid,
    program_id uuid NOT NULL,
    environment text NOT NULL,
    account_id uuid NOT NULL,
    amount_cents bigint NOT NULL,
    status text NOT NULL,
    reason text,
    transfer_id uuid,
    created_at timestamp(3) with time zone NOT NULL,
    paid_at timestamp(3) with time zone,
    denied_at timestamp(3) with time zone,
    round_id uuid,
    program_limit_cents bigint,
    program_paid_cents bigint,
    CONSTRAINT payouts_amount_is_positive CHECK ((amount_cents > 0)),
    CONSTRAINT payouts_count_includes_them CHECK ((program_paid_cents >= amount_cents)),
    CONSTRAINT payouts_counted_once_paid CHECK (((program_paid_cents IS NULL) OR (paid_at IS NOT NULL))),
    CONSTRAINT payouts_denied_iff_denied_at CHECK (((status = 'denied'::text) = (denied_at IS NOT NULL))),
    CONSTRAINT payouts_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT payouts_name_attempt_or_round CHECK ((num_nonnulls(attempt_id, round_id) = 1)),
    CONSTRAINT payouts_paid_iff_money_moved CHECK ((((status = 'paid'::text) = (transfer_id IS NOT NULL)) AND ((status = 'paid'::text) = (paid_at IS NOT NULL)))),
    CONSTRAINT payouts_reason_is_known CHECK ((reason = ANY ('{enforcement_flag,under_investigation,payout_velocity,sandbox_hold,challenge_suspended,program_velocity}'::text[]))),
    CONSTRAINT payouts_status_is_known CHECK ((status = ANY (ARRAY['paid'::text, 'held'::text, 'denied'::text]))),
    CONSTRAINT payouts_withheld_says_why CHECK (((status = 'paid'::text) OR (reason IS NOT NULL)))
);

CREATE TABLE public.player_links (
    program_id uuid NOT NULL,
    environment text NOT NULL,
    player_ref text NOT NULL COLLATE pg_catalog."C",
    account_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    house_id uuid NOT NULL,
    severed boolean DEFAULT false NOT NULL,
    CONSTRAINT player_links_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT player_links_house_follows_environment CHECK ((house_id =
CASE environment
    WHEN 'live'::text THEN '00000000-0000-8000-8000-000000000020'::uuid
    ELSE program_id
END)),
    CONSTRAINT player_links_never_severed CHECK ((NOT severed)),
    CONSTRAINT player_links_player_ref_length CHECK (((length(player_ref) >= 1) AND (length(player_ref) <= 255)))
);

CREATE TABLE public.program_accounts (
    program_id uuid NOT NULL,
    account_id uuid NOT NULL,
    severed boolean DEFAULT false NOT NULL,
    severed_at timestamp(3) with time zone,
    CONSTRAINT program_accounts_severed_iff_severed_at CHECK ((severed = (severed_at IS NOT NULL)))
);

CREATE TABLE public.program_days (
    day date NOT NULL,
    environment text NOT NULL,
    program_id uuid NOT NULL,
    fees_cents bigint NOT NULL,
    refunds_cents bigint NOT NULL,
    paid_cents bigint NOT NULL,
    held_cents bigint NOT NULL,
    denied_cents bigint NOT NULL,
    CONSTRAINT program_days_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT program_days_never_below_zero CHECK ((LEAST(fees_cents, refunds_cents, paid_cents, held_cents, denied_cents) >= 0))
);

CREATE TABLE public.program_limits (
    program_id uuid NOT NULL,
    environment text NOT NULL,
    payout_limit_cents bigint,
    fee_limit_cents bigint,
    paid_cents bigint DEFAULT 0 NOT NULL,
    CONSTRAINT program_limits_environment_is_known CHECK ((environment = ANY (ARRAY['test'::text, 'live'::text]))),
    CONSTRAINT program_limits_never_below_zero CHECK (((payout_limit_cents >= 0) AND (fee_limit_cents >= 0))),
    CONSTRAINT program_limits_paid_only_grows CHECK ((paid_cents >= 0))
)
WITH (fillfactor='50');

CREATE TABLE public.transfers (
    id uuid NOT NULL,
    state text NOT NULL,
    kind text NOT NULL,
    environment text,
    debit_id uuid,
    credit_id uuid,
    amount_cents bigint,
    player_ledger_id uuid,
    player_balance_after_cents bigint,
    seq bigint NOT NULL,
    attempt_id uuid,
    fee_transfer_id uuid,
    award_id uuid,
    reference text,
    reason text,
    refusal_code text,
    created_at timestamp(3) with time zone NOT NULL,
    round_id uuid,
    house_id uuid,
    program_id uuid,
    program_limit_cents bigint,
    CONSTRAINT transfers_amount_is_positive CHECK ((amount_cents > 0)),
    CONSTRAINT transfers_award_names_its_award CHECK (((kind = ANY ('{award,purse}'::text[])) = (award_id IS NOT NULL))),
    CONSTRAINT transfers_deposit_has_reference CHECK ((((kind = 'deposit'::text) = (reference IS NOT NULL)) AND ((reference IS NULL) OR ((length(reference) >= 1) AND (length(reference) <= 255))))),
    CONSTRAINT transfers_deposit_within_cap CHECK (((kind <> 'deposit'::text) OR (house_id IS NULL) OR (player_balance_after_cents <=
CASE house_id
    WHEN '00000000-0000-8000-8000-000000000020'::uuid THEN 100000000
    WHEN '00000000-0000-8000-8000-000000000010'::uuid THEN '-1'::integer
    ELSE 1000000
END))),
    CONSTRAINT transfers_environment_is_known CHECK ((environment = ANY ('{test,live}'::text[]))),
    CONSTRAINT transfers_fee_names_its_attempt CHECK (((state <> 'posted'::text) OR (kind <> 'fee'::text) OR (attempt_id IS NOT NULL))),
    CONSTRAINT transfers_kind_is_known CHECK ((kind = ANY ('{fee,refund,award,purse,deposit}'::text[]))),
    CONSTRAINT transfers_legs_follow_kind CHECK (((state <> 'posted'::text) OR ((
CASE
    WHEN (kind = 'fee'::text) THEN debit_id
    ELSE credit_id
END = player_ledger_id) AND (
CASE
    WHEN (kind = 'fee'::text) THEN credit_id
    ELSE debit_id
END = (OVERLAY((COALESCE(house_id,
CASE environment
    WHEN 'live'::text THEN '00000000-0000-8000-8000-000000000020'::uuid
    ELSE '00000000-0000-8000-8000-000000000010'::uuid
END))::text PLACING substr('11243'::text, array_position('{fee,refund,award,purse,deposit}'::text[], kind), 1) FROM 36 FOR 1))::uuid) AND ((environment = 'live'::text) = (house_id = '00000000-0000-8000-8000-000000000020'::uuid))))),
    CONSTRAINT transfers_player_never_below_zero CHECK ((player_balance_after_cents >= 0)),
    CONSTRAINT transfers_posted_is_complete CHECK (((state <> 'posted'::text) OR (num_nulls(environment, debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents) = 0))),
    CONSTRAINT transfers_purse_names_its_round CHECK ((((kind = 'purse'::text) = (round_id IS NOT NULL)) AND ((kind <> 'purse'::text) OR (attempt_id IS NULL)))),
    CONSTRAINT transfers_refund_has_attempt_and_reason CHECK (((kind <> 'refund'::text) OR ((attempt_id IS NOT NULL) AND (reason = ANY ('{expired,round_closed,round_cancelled,voided}'::text[]))))),
    CONSTRAINT transfers_refund_names_its_fee CHECK (((kind = 'refund'::text) = (fee_transfer_id IS NOT NULL))),
    CONSTRAINT transfers_refusal_only_on_tombstone CHECK (((refusal_code IS NULL) OR ((state <> 'posted'::text) AND (refusal_code = ANY ('{blocked,insider_entry,insufficient_funds}'::text[]))))),
    CONSTRAINT transfers_tombstone_moves_nothing CHECK (((state = 'posted'::text) OR ((kind = 'fee'::text) AND (num_nonnulls(debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents) = 0))))
);

ALTER TABLE public.transfers ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.transfers_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_house_email_key UNIQUE (house_id, email);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_id_house_key UNIQUE (id, house_id);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_findings
    ADD CONSTRAINT audit_findings_pkey PRIMARY KEY (check_id, walk, key, id, environment);

ALTER TABLE ONLY public.audit_passes
    ADD CONSTRAINT audit_passes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_runs
    ADD CONSTRAINT audit_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_sums
    ADD CONSTRAINT audit_sums_pkey PRIMARY KEY (name, key);

ALTER TABLE ONLY public.day_counts
    ADD CONSTRAINT day_counts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.environment_days
    ADD CONSTRAINT environment_days_pkey PRIMARY KEY (day, environment);

ALTER TABLE ONLY public.houses
    ADD CONSTRAINT houses_id_environment_key UNIQUE (id, environment);

ALTER TABLE ONLY public.houses
    ADD CONSTRAINT houses_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.insiders
    ADD CONSTRAINT insiders_pkey PRIMARY KEY (program_id, account_id);

ALTER TABLE ONLY public.ledger_accounts
    ADD CONSTRAINT ledger_accounts_account_environment_key UNIQUE (account_id, environment);

ALTER TABLE ONLY public.ledger_accounts
    ADD CONSTRAINT ledger_accounts_id_house_key UNIQUE (id, house_id);

ALTER TABLE ONLY public.ledger_accounts
    ADD CONSTRAINT ledger_accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.payout_decisions
    ADD CONSTRAINT payout_decisions_pkey PRIMARY KEY (award_id);

ALTER TABLE ONLY public.payouts
    ADD CONSTRAINT payouts_attempt_id_key UNIQUE (attempt_id);

ALTER TABLE ONLY public.payouts
    ADD CONSTRAINT payouts_pkey PRIMARY KEY (award_id);

ALTER TABLE ONLY public.player_links
    ADD CONSTRAINT player_links_pkey PRIMARY KEY (program_id, environment, player_ref) INCLUDE (account_id);

ALTER TABLE ONLY public.program_accounts
    ADD CONSTRAINT program_accounts_pkey PRIMARY KEY (program_id, account_id);

ALTER TABLE ONLY public.program_accounts
    ADD CONSTRAINT program_accounts_severed_key UNIQUE (program_id, account_id, severed);

ALTER TABLE ONLY public.program_days
    ADD CONSTRAINT program_days_pkey PRIMARY KEY (day, environment, program_id);

ALTER TABLE ONLY public.program_limits
    ADD CONSTRAINT program_limits_pkey PRIMARY KEY (program_id, environment);

ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_pkey PRIMARY KEY (id);

ALTER TABLE public.transfers
    ADD CONSTRAINT transfers_state_is_known CHECK ((state = ANY ('{posted,tombstone}'::text[]))) NOT VALID;

CREATE INDEX accounts_flagged ON public.accounts USING btree (id) WHERE (enforcement_flag OR under_investigation OR blocked OR (self_excluded_until IS NOT NULL));

CREATE INDEX accounts_of_house ON public.accounts USING btree (house_id, id);

CREATE UNIQUE INDEX houses_share_no_account ON public.houses USING btree ("left"((id)::text, 35));

CREATE UNIQUE INDEX ledger_accounts_one_house_account_per_kind ON public.ledger_accounts USING btree (house_id, kind) WHERE (kind <> 'player'::text);

CREATE INDEX payouts_counted_idx ON public.payouts USING btree (program_id, environment, paid_at) INCLUDE (amount_cents, program_paid_cents) WHERE (program_paid_cents IS NOT NULL);

CREATE INDEX payouts_held_idx ON public.payouts USING btree (created_at DESC, award_id DESC) INCLUDE (account_id, program_id, environment, amount_cents) WHERE (status = 'held'::text);

CREATE INDEX payouts_newest_by_status_idx ON public.payouts USING btree (status, created_at DESC, award_id DESC);

CREATE INDEX payouts_newest_idx ON public.payouts USING btree (created_at DESC, award_id DESC);

CREATE INDEX payouts_uncounted_idx ON public.payouts USING btree (program_id, environment, paid_at) INCLUDE (amount_cents) WHERE ((program_paid_cents IS NULL) AND (paid_at IS NOT NULL));

CREATE INDEX payouts_velocity_idx ON public.payouts USING btree (account_id, environment, paid_at) INCLUDE (amount_cents) WHERE (status = 'paid'::text);

CREATE INDEX player_links_account_id_idx ON public.player_links USING btree (account_id);

CREATE INDEX program_accounts_account_id_idx ON public.program_accounts USING btree (account_id);

CREATE INDEX program_days_of_program ON public.program_days USING btree (program_id, environment, day);

CREATE INDEX transfers_by_instant_idx ON public.transfers USING brin (created_at timestamptz_minmax_multi_ops) WITH (pages_per_range='64', autosummarize='on') WHERE ((state = 'posted'::text) AND (kind <> 'deposit'::text));

CREATE INDEX transfers_deposits_and_tombstones_idx ON public.transfers USING btree (created_at) WHERE ((kind = 'deposit'::text) OR (state <> 'posted'::text));

CREATE INDEX transfers_goodwill_idx ON public.transfers USING btree (attempt_id, seq) WHERE ((kind = 'deposit'::text) AND (attempt_id IS NOT NULL));

CREATE UNIQUE INDEX transfers_one_deposit_per_reference ON public.transfers USING btree (player_ledger_id, reference) WHERE (kind = 'deposit'::text);

CREATE UNIQUE INDEX transfers_one_fee_per_attempt ON public.transfers USING btree (attempt_id) WHERE ((kind = 'fee'::text) AND (state = 'posted'::text));

CREATE UNIQUE INDEX transfers_one_refund_per_fee ON public.transfers USING btree (fee_transfer_id) WHERE (kind = 'refund'::text);

CREATE UNIQUE INDEX transfers_one_transfer_per_award ON public.transfers USING btree (award_id) WHERE (award_id IS NOT NULL);

CREATE INDEX transfers_program_fees_idx ON public.transfers USING btree (player_ledger_id, program_id, created_at) INCLUDE (amount_cents) WHERE ((kind = 'fee'::text) AND (state = 'posted'::text) AND (program_id IS NOT NULL));

CREATE INDEX transfers_statement_idx ON public.transfers USING btree (player_ledger_id, seq DESC) WHERE (state = 'posted'::text);

CREATE TRIGGER accounts_people_stay_who_they_are BEFORE UPDATE OF email, date_of_birth ON public.accounts FOR EACH ROW WHEN (((old.house_id = '00000000-0000-8000-8000-000000000020'::uuid) AND ((new.email IS DISTINCT FROM old.email) OR (new.date_of_birth IS DISTINCT FROM old.date_of_birth)))) EXECUTE FUNCTION public.refuse_change_of_people();

CREATE TRIGGER ledger_accounts_are_kept BEFORE DELETE OR TRUNCATE ON public.ledger_accounts FOR EACH STATEMENT EXECUTE FUNCTION public.ledger_accounts_refuse_removal();

CREATE TRIGGER payout_decisions_are_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON public.payout_decisions FOR EACH STATEMENT EXECUTE FUNCTION public.payout_decisions_refuse_change();

CREATE TRIGGER payout_decisions_match_their_payout BEFORE INSERT ON public.payout_decisions FOR EACH ROW EXECUTE FUNCTION public.payout_decisions_match_payout();

CREATE TRIGGER payouts_decisions_are_final AFTER UPDATE ON public.payouts FOR EACH ROW WHEN (((new.reason IS DISTINCT FROM old.reason) OR ((old.status <> 'held'::text) AND ((((new.status IS DISTINCT FROM old.status) OR (new.transfer_id IS DISTINCT FROM old.transfer_id)) OR (new.paid_at IS DISTINCT FROM old.paid_at)) OR (new.denied_at IS DISTINCT FROM old.denied_at))))) EXECUTE FUNCTION public.payout_decisions_refuse_change();

CREATE TRIGGER transfers_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.transfers FOR EACH STATEMENT EXECUTE FUNCTION public.transfers_refuse_change();

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_house_id_fkey FOREIGN KEY (house_id) REFERENCES public.houses(id);

ALTER TABLE ONLY public.insiders
    ADD CONSTRAINT insiders_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.ledger_accounts
    ADD CONSTRAINT ledger_accounts_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.ledger_accounts
    ADD CONSTRAINT ledger_accounts_house_is_of_the_environment FOREIGN KEY (house_id, environment) REFERENCES public.houses(id, environment);

ALTER TABLE ONLY public.ledger_accounts
    ADD CONSTRAINT ledger_accounts_person_plays_with_the_house FOREIGN KEY (account_id, house_id) REFERENCES public.accounts(id, house_id) NOT VALID;

ALTER TABLE ONLY public.payout_decisions
    ADD CONSTRAINT payout_decisions_award_id_fkey FOREIGN KEY (award_id) REFERENCES public.payouts(award_id);

ALTER TABLE ONLY public.payouts
    ADD CONSTRAINT payouts_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.payouts
    ADD CONSTRAINT payouts_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES public.transfers(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.player_links
    ADD CONSTRAINT player_links_pair_is_not_severed FOREIGN KEY (program_id, account_id, severed) REFERENCES public.program_accounts(program_id, account_id, severed);

ALTER TABLE ONLY public.player_links
    ADD CONSTRAINT player_links_person_plays_with_the_house FOREIGN KEY (account_id, house_id) REFERENCES public.accounts(id, house_id);

ALTER TABLE ONLY public.program_accounts
    ADD CONSTRAINT program_accounts_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_player_plays_with_the_house FOREIGN KEY (player_ledger_id, house_id) REFERENCES public.ledger_accounts(id, house_id) MATCH FULL NOT VALID;
