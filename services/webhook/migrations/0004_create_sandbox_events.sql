-- The events of the sandbox, for developers who read them instead of receiving them (docs/contract/portal-api.md, "Sandbox"). Written in the
-- transaction that consumes the event. The previous release neither writes nor reads these tables: what it consumes during a rollout is
-- delivered as ever, and is not in them.

-- The number of events that each program's sandbox has had. Its row is locked until the commit that raised it, so positions are visible in
-- their order and without gaps (docs/decisions/0030-number-sandbox-events-under-a-lock.md).
create table sandbox_logs (
  program_id uuid not null,
  last_position bigint not null,
  constraint sandbox_logs_pkey primary key (program_id),
  constraint sandbox_logs_count_from_one check (last_position > 0)
) with (fillfactor = 70);

create table sandbox_events (
  program_id uuid not null,
  -- From 1, one more for each event of the program.
  position bigint not null,
  event_id uuid not null,
  event_type text not null,
  -- The bytes that deliveries of the event have.
  body bytea not null,
  created_at timestamptz(3) not null,
  constraint sandbox_events_pkey primary key (program_id, position),
  constraint sandbox_events_count_from_one check (position > 0)
);

create index sandbox_events_by_age on sandbox_events (created_at);
