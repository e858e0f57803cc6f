-- The gateway hands a program's facts to the integration service under the program's lock, before it commits the change; the service keeps the
-- newest version. Each change writes the greater of the next number and the time in microseconds, so that the version also grows past one
-- that was handed over with a change that was then rolled back, or lost with the last second of this database.
--
-- A change that could not be handed over is committed all the same, so that a program can always be suspended. The gateway's worker hands over
-- what `announced_version` shows to be missing.

alter table programs
  add column version bigint not null default 0
  constraint programs_version_is_not_negative check (version >= 0);

alter table programs
  add column announced_version bigint not null default 0
  constraint programs_announced_version_is_not_negative check (announced_version >= 0);

-- squawk-ignore require-concurrent-index-creation
create index programs_to_announce on programs (id) where announced_version < version;
