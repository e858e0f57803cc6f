-- An operator could open a round that closed so soon that nobody could ever enter it: the length of
-- automatic rounds was checked, `closes_at` was not. Whichever way a round is opened, at least eleven
-- minutes lie between its opening and its end: entries are open for one minute at least, and close ten
-- minutes before the end. A round that opens in the past can be entered from its creation on.
--
-- The rule is about the opening alone, since the sandbox ends open rounds sooner. So a trigger checks
-- inserts, and rounds of before stay as they are. Tournaments whose rounds lasted ten to eleven
-- minutes get eleven; their terms are frozen by a trigger, which is off for that statement alone.
--
-- The release before works on this schema. It still takes a shorter round from an operator, and then
-- answers 500 and stores nothing. 0015 validates the constraint.

create function refuse_round_without_entries() returns trigger language plpgsql as $$
begin
  raise exception 'a round lasts at least eleven minutes from its opening, or from its creation if that is later'
    using errcode = 'check_violation', constraint = 'rounds_are_open_for_entries';
end
$$;

create trigger rounds_are_open_for_entries before insert on rounds
  for each row
  when (new.closes_at - greatest(new.opens_at, new.created_at) < interval '11 minutes')
  execute function refuse_round_without_entries();

alter table tournaments
  drop constraint tournaments_round_outlasts_its_last_ten_minutes,
  add constraint tournaments_rounds_are_open_for_entries check (round_length_seconds >= 660) not valid;

alter table tournaments disable trigger tournaments_terms_are_frozen;

update tournaments set round_length_seconds = 660 where round_length_seconds < 660;

alter table tournaments enable trigger tournaments_terms_are_frozen;
