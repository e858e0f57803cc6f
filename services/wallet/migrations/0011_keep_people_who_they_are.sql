-- Who a person is never changes: with another e-mail or date of birth an account with money would be somebody else's. The role that runs the
-- wallet may change both columns for the made-up players of sandboxes, whose partner decides who they are; of people it may not.
create function refuse_change_of_people() returns trigger language plpgsql as $$
begin
  raise exception 'the e-mail and date of birth of a person never change'
    using errcode = 'restrict_violation', constraint = 'accounts_people_stay_who_they_are';
end
$$;

create trigger accounts_people_stay_who_they_are before update of email, date_of_birth on accounts
  for each row
  when (
    old.house_id = '00000000-0000-8000-8000-000000000020'
    and (new.email, new.date_of_birth) is distinct from (old.email, old.date_of_birth)
  )
  execute function refuse_change_of_people();
