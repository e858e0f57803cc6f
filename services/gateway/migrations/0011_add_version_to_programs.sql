-- The gateway hands a program's facts to the integration service under the program's lock, before it commits the change; the service keeps the
-- newest version. Each change writes the greater of the next number and the time in microseconds, so that the version also grows past one
-- that was handed over with a change that was then rolled back, or lost with the last second of this database.

alter table programs
  add column version bigint not null default 0
  constraint programs_version_is_not_negative check (version >= 0);
