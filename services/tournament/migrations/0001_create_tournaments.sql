-- What an operator offers: a metric, a fee and a purse; and the rounds in which it is played for.

create table tournaments (
  id uuid not null,
  program_id uuid not null,
  environment text not null,
  status text not null,
  name text not null,
  description text,
  metric_name text not null,
  metric_unit text not null,
  direction text not null,
  -- Both null where equal scores go by time alone.
  tiebreak_metric_name text,
  tiebreak_direction text,
  -- Every attempt of a round is paid.
  entry_fee_cents bigint not null,
  attempt_cap integer not null,
  -- What rank 1, 2, 3, ... wins: the place in the array is the rank.
  purse_cents bigint[] not null,
  min_entrants integer not null,
  -- 0 is no gate.
  min_scored_attempts integer not null,
  -- Null: an operator opens each round.
  round_length_seconds integer,
  created_at timestamptz(3) not null,
  constraint tournaments_pkey primary key (id),
  -- Carries what a round shares with its tournament, for the foreign key below.
  constraint tournaments_tenant_key unique (id, program_id, environment),
  constraint tournaments_environment_is_known check (environment in ('test', 'live')),
  constraint tournaments_status_is_known check (status in ('active', 'paused', 'closed')),
  constraint tournaments_name_length check (char_length(name) between 1 and 255),
  constraint tournaments_direction_is_known check (direction in ('higher_is_better', 'lower_is_better')),
  constraint tournaments_tiebreak_has_metric_and_direction check ((tiebreak_metric_name is null) = (tiebreak_direction is null)),
  constraint tournaments_tiebreak_direction_is_known check (tiebreak_direction in ('higher_is_better', 'lower_is_better')),
  constraint tournaments_entry_fee_is_positive check (entry_fee_cents > 0),
  constraint tournaments_attempt_cap_is_positive check (attempt_cap >= 1),
  -- An empty array has no dimension.
  constraint tournaments_purse_is_a_list_of_ranks check (
    case when array_ndims(purse_cents) = 1 and array_lower(purse_cents, 1) = 1 then array_position(purse_cents, null) is null else false end
  ),
  constraint tournaments_purse_is_positive check (0 < all (purse_cents)),
  constraint tournaments_purse_never_grows_with_rank check (purse_cents = array_sort(purse_cents, true)),
  constraint tournaments_min_entrants_is_positive check (min_entrants >= 1),
  constraint tournaments_min_scored_attempts_is_not_negative check (min_scored_attempts >= 0),
  -- Entries close ten minutes before a round does.
  constraint tournaments_round_outlasts_its_last_ten_minutes check (round_length_seconds > 600)
);

create index tournaments_of_tenant on tournaments (program_id, environment, created_at, id);

-- Whose next round opens by itself.
create index tournaments_with_a_round_length on tournaments (id) where status = 'active' and round_length_seconds is not null;

create function refuse_change_of_tournament_terms() returns trigger language plpgsql as $$
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

create trigger tournaments_terms_are_frozen before update or delete on tournaments
  for each row execute function refuse_change_of_tournament_terms();

create table rounds (
  id uuid not null,
  tournament_id uuid not null,
  program_id uuid not null,
  environment text not null,
  -- 1 for the first round of its tournament; the highest is the current one.
  number integer not null,
  -- 'settling' and 'cancelling' are decided and durable, and still on their way to the wallet.
  status text not null,
  opens_at timestamptz(3) not null,
  entries_close_at timestamptz(3) not null,
  closes_at timestamptz(3) not null,
  settled_at timestamptz(3),
  -- What a round's money and order depend on is copied here when it opens; its names are read from the tournament, which never changes.
  direction text not null,
  -- Null where there is no tiebreak.
  tiebreak_direction text,
  entry_fee_cents bigint not null,
  attempt_cap integer not null,
  purse_cents bigint[] not null,
  min_entrants integer not null,
  min_scored_attempts integer not null,
  created_at timestamptz(3) not null,
  constraint rounds_pkey primary key (id),
  constraint rounds_share_the_tenant_of_their_tournament
    foreign key (tournament_id, program_id, environment) references tournaments (id, program_id, environment),
  constraint rounds_number_key unique (tournament_id, number),
  constraint rounds_number_is_positive check (number >= 1),
  constraint rounds_status_is_known check (status in ('open', 'settling', 'settled', 'cancelling', 'cancelled')),
  constraint rounds_times_are_in_order check (opens_at <= entries_close_at and entries_close_at <= closes_at),
  constraint rounds_settled_at_follows_status check ((status = 'settled') = (settled_at is not null)),
  constraint rounds_direction_is_known check (direction in ('higher_is_better', 'lower_is_better')),
  constraint rounds_tiebreak_direction_is_known check (tiebreak_direction in ('higher_is_better', 'lower_is_better')),
  constraint rounds_entry_fee_is_positive check (entry_fee_cents > 0),
  constraint rounds_attempt_cap_is_positive check (attempt_cap >= 1),
  constraint rounds_purse_is_a_list_of_ranks check (
    case when array_ndims(purse_cents) = 1 and array_lower(purse_cents, 1) = 1 then array_position(purse_cents, null) is null else false end
  ),
  constraint rounds_purse_is_positive check (0 < all (purse_cents)),
  constraint rounds_purse_never_grows_with_rank check (purse_cents = array_sort(purse_cents, true)),
  constraint rounds_min_entrants_is_positive check (min_entrants >= 1),
  constraint rounds_min_scored_attempts_is_not_negative check (min_scored_attempts >= 0)
);

create unique index rounds_one_open_per_tournament on rounds (tournament_id) where status = 'open';

-- What the worker has to bring to an end: few, however many rounds there have been.
create index rounds_unfinished on rounds (closes_at, id) where status in ('open', 'settling', 'cancelling');

-- Attempts and entries read what is frozen from here and have no foreign key to it: every insert would lock the one row of a popular
-- round. Instead no round is ever deleted.
create function refuse_change_of_round_terms() returns trigger language plpgsql as $$
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
  -- The sandbox's clock: an open round of the test environment may end sooner.
  if (new.entries_close_at, new.closes_at) is distinct from (old.entries_close_at, old.closes_at)
    and not (old.environment = 'test' and old.status = 'open'
      and new.entries_close_at <= old.entries_close_at and new.closes_at <= old.closes_at) then
    raise exception 'only an open round of the sandbox ends sooner, and none later'
      using errcode = 'restrict_violation', constraint = 'rounds_end_when_they_said';
  end if;
  return new;
end
$$;

create trigger rounds_terms_are_frozen before update or delete on rounds
  for each row execute function refuse_change_of_round_terms();
