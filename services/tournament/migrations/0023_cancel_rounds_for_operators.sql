-- An operator cancels a round that has not ended: who did, why and when are kept with the round.
-- The commit that writes them also ends the round's entries and scores, in live too: its times move
-- to that instant. The commit that cancels the round follows, once no attempt is pending
-- (src/workers/close-rounds.ts).
--
-- The database holds what this decides about money:
-- - A cancellation is written once, with the round open, and never changes.
-- - A round with one takes no entries and no scores, and never settles.
-- - Only a round that ran has payouts, so a cancelled round never pays.
--
-- The previous release works on this schema. It sees a cancelled round as one that is over. If the
-- round has enough entrants, that release tries to settle it, which a constraint refuses, and the
-- round stays open; a replica of this release cancels it. 0024 validates the constraints.

alter table rounds
  add column cancelled_at timestamptz(3),
  add column cancelled_by text,
  add column cancel_reason text,
  add constraint rounds_cancellation_is_complete
    check (num_nulls(cancelled_at, cancelled_by, cancel_reason) in (0, 3)) not valid,
  add constraint rounds_cancelled_by_length check (char_length(cancelled_by) between 1 and 64) not valid,
  add constraint rounds_cancel_reason_length check (char_length(cancel_reason) between 1 and 1000) not valid,
  add constraint rounds_that_are_cancelled_are_over
    check (cancelled_at is null or closes_at <= greatest(opens_at, cancelled_at)) not valid,
  add constraint rounds_that_are_cancelled_never_settle
    check (cancelled_at is null or status in ('open', 'cancelling', 'cancelled')) not valid;

create or replace function refuse_change_of_round_terms() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'rounds are never deleted' using errcode = 'restrict_violation', constraint = 'rounds_are_kept';
  end if;
  if to_jsonb(new) - array['status', 'settled_at', 'entries_close_at', 'closes_at', 'cancelled_at', 'cancelled_by', 'cancel_reason']
    is distinct from
    to_jsonb(old) - array['status', 'settled_at', 'entries_close_at', 'closes_at', 'cancelled_at', 'cancelled_by', 'cancel_reason']
  then
    raise exception 'the terms of a round never change'
      using errcode = 'restrict_violation', constraint = 'rounds_terms_are_frozen';
  end if;
  if new.status <> old.status and (old.status, new.status) not in
    (('open', 'settling'), ('settling', 'settled'), ('open', 'cancelling'), ('cancelling', 'cancelled')) then
    raise exception 'a round that is % does not become %', old.status, new.status
      using errcode = 'restrict_violation', constraint = 'rounds_status_only_moves_on';
  end if;
  if (new.cancelled_at, new.cancelled_by, new.cancel_reason)
    is distinct from (old.cancelled_at, old.cancelled_by, old.cancel_reason)
    and not (old.cancelled_at is null and old.status = 'open' and new.status = 'open') then
    raise exception 'an operator cancels a round once, while it is open'
      using errcode = 'restrict_violation', constraint = 'rounds_are_cancelled_once';
  end if;
  -- The sandbox's clock: an open round of the test environment may end sooner. An operator's
  -- cancellation ends a round of either environment.
  if (new.entries_close_at, new.closes_at) is distinct from (old.entries_close_at, old.closes_at)
    and not (old.status = 'open' and new.entries_close_at <= old.entries_close_at and new.closes_at <= old.closes_at
      and (old.environment = 'test' or (old.cancelled_at is null and new.cancelled_at is not null))) then
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
