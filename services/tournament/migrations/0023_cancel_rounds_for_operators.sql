-- An operator cancels a round that has not ended: who did, why and when are kept in a table of
-- their own. The commit that writes them also ends the round's entries and scores, in live too: its
-- times move to that instant. The commit that cancels the round follows, once no attempt is pending
-- (src/workers/close-rounds.ts).
--
-- The database holds what this decides about money:
-- - A cancellation is written once, with the round open, and never changes.
-- - A round with one takes no entries and no scores, and never settles.
-- - Only a round that ran has payouts, so a cancelled round never pays.
--
-- Not columns of `rounds`: the previous release has prepared statements that read all columns of
-- it, and each of its connections would fail one transaction as soon as there is another.
--
-- The previous release works on this schema. It sees a cancelled round as one that is over. If the
-- round has enough entrants, that release tries to settle it, which a trigger refuses, and the
-- round stays open; a replica of this release cancels it. The functions read the new table as its
-- owner, so that they work under the privileges of the previous release too.

create table round_cancellations (
  round_id uuid not null,
  cancelled_at timestamptz(3) not null,
  -- The name of the token's holder.
  cancelled_by text not null,
  reason text not null,
  constraint round_cancellations_pkey primary key (round_id),
  constraint round_cancellations_round_id_fkey foreign key (round_id) references rounds (id),
  constraint round_cancellations_cancelled_by_length check (char_length(cancelled_by) between 1 and 64),
  constraint round_cancellations_reason_length check (char_length(reason) between 1 and 1000),
  constraint round_cancellations_reason_has_words check (reason ~ '[^ \t\n\r]')
);

create function refuse_cancellation_of_ended_round() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  -- The lock keeps the status until the commit.
  if (select r.status from public.rounds r where r.id = new.round_id for no key update) <> 'open' then
    raise exception 'an operator cancels a round once, while it is open'
      using errcode = 'restrict_violation', constraint = 'rounds_are_cancelled_while_open';
  end if;
  return new;
end
$$;

create trigger rounds_are_cancelled_while_open before insert on round_cancellations
  for each row execute function refuse_cancellation_of_ended_round();

create function refuse_cancellation_of_running_round() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- At the commit, in which the times of the round have moved.
create constraint trigger rounds_that_are_cancelled_are_over after insert on round_cancellations
  deferrable initially deferred
  for each row execute function refuse_cancellation_of_running_round();

create function refuse_change_of_cancellations() returns trigger language plpgsql as $$
begin
  raise exception 'the cancellation of a round never changes'
    using errcode = 'restrict_violation', constraint = 'round_cancellations_are_kept';
end
$$;

create trigger round_cancellations_are_kept before update or delete or truncate on round_cancellations
  for each statement execute function refuse_change_of_cancellations();

create or replace function refuse_change_of_round_terms() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
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

create function refuse_payouts_of_rounds_that_did_not_run() returns trigger language plpgsql as $$
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

create trigger round_payouts_are_of_a_round_that_ran after insert on round_payouts
  referencing new table as added
  for each statement execute function refuse_payouts_of_rounds_that_did_not_run();
