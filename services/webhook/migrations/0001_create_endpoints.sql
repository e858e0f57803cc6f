-- Where events go: endpoints, and which developer a program belongs to.

-- Told by the gateway, which owns programs, before a program's first event: an endpoint without a program takes those of all of them.
create table programs (
  id uuid not null,
  developer_id uuid not null,
  constraint programs_pkey primary key (id)
);

create table endpoints (
  id uuid not null,
  developer_id uuid not null,
  url text not null,
  -- Event types; empty means every one.
  events text[] not null,
  -- Null means all programs of the developer.
  program_id uuid,
  -- Null means both.
  environment text,
  description text not null,
  is_active boolean not null,
  -- AES-256-GCM under the service's key, bound to the endpoint's id.
  secret bytea not null,
  created_at timestamptz(3) not null,
  -- Kept until its log is old enough to go.
  deleted_at timestamptz(3),
  constraint endpoints_pkey primary key (id),
  constraint endpoints_url_is_https check (url like 'https://%' and char_length(url) <= 2048),
  constraint endpoints_events_are_known check (events <@ array['webhook.test', 'attempt.settled', 'attempt.refunded',
    'challenge.suspended', 'round.settled', 'round.cancelled', 'award.released']),
  constraint endpoints_environment_is_known check (environment in ('test', 'live')),
  constraint endpoints_description_length check (char_length(description) <= 1000),
  constraint endpoints_deleted_is_off check (deleted_at is null or not is_active)
);

create index endpoints_of_developer on endpoints (developer_id, created_at, id) where deleted_at is null;

-- Those that go once their log has gone.
create index endpoints_deleted on endpoints (deleted_at) where deleted_at is not null;
