-- The version of a challenge's row. A creation that was decided on a cached challenge is written only where the row is still of the version
-- that was cached (src/repository/optimistic-attempts.ts). A trigger raises it at every update, whatever the statement says.
--
-- The release before this one goes on beside it: it compares the row's xmin, and its inserts take the default. A connection of it that has
-- prepared `select *` of challenges prepares it again after one failed batch, which is run once more.
alter table challenges add column version bigint not null default 1;

alter table challenges
  -- squawk-ignore constraint-missing-not-valid
  add constraint challenges_version_is_positive check (version >= 1);

create or replace function refuse_change_of_challenge_terms() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'challenges are never deleted' using errcode = 'restrict_violation', constraint = 'challenges_are_kept';
  end if;
  if to_jsonb(new) - array['status', 'threshold', 'calibration_source', 'version']
    is distinct from to_jsonb(old) - array['status', 'threshold', 'calibration_source', 'version'] then
    raise exception 'the terms of a challenge never change'
      using errcode = 'restrict_violation', constraint = 'challenges_terms_are_frozen';
  end if;
  return new;
end
$$;

create function raise_challenge_version() returns trigger language plpgsql as $$
begin
  new.version := old.version + 1;
  return new;
end
$$;

create trigger challenges_version_rises before update on challenges
  for each row execute function raise_challenge_version();
