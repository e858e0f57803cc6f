-- How each program exchanges outcomes, and the secrets of it.

-- From the gateway, which owns programs: who may read the log, and where outcomes may be settled now.
create table programs (
  id uuid not null,
  -- Null for a program without a developer.
  developer_id uuid,
  -- The environments in which the program's keys are accepted.
  open_environments text[] not null,
  -- Grows with each change of the program; an older one that arrives late changes nothing.
  version bigint not null,
  constraint programs_pkey primary key (id),
  constraint programs_environments_are_known check (open_environments <@ array['test', 'live'])
);

create table integrations (
  id uuid not null,
  program_id uuid not null,
  environment text not null,
  transport text not null,
  status text not null,
  -- As it was sent, without the secret values of pull.auth.
  descriptor json not null,
  -- AES-256-GCM under the service's key, bound to the integration's id: what a push is signed with, and what it was signed with before.
  signing_secret bytea,
  previous_signing_secret bytea,
  -- The same of pull.auth: only sent to `pull_origin`.
  pull_secret bytea,
  pull_origin text,
  pull_interval_seconds integer,
  -- Where the next poll goes on; null before the first page. Changed in the commit of the page's log entry.
  cursor text,
  last_polled_at timestamptz(3),
  -- Null unless polls are due.
  next_poll_at timestamptz(3),
  consecutive_failures integer not null default 0,
  last_poll_error text,
  -- Until then a replica is polling it; after that the replica has died, and any other may go on.
  leased_until timestamptz(3),
  -- Grows with each lease: a replica whose lease ran out changes nothing any more.
  lease_number bigint not null default 0,
  created_at timestamptz(3) not null,
  constraint integrations_pkey primary key (id),
  constraint integrations_program_id_fkey foreign key (program_id) references programs (id),
  constraint integrations_environment_is_known check (environment in ('test', 'live')),
  constraint integrations_transport_is_known check (transport in ('push_webhook', 'pull_poll', 'sdk_direct')),
  constraint integrations_status_is_known check (status in ('draft', 'active', 'suspended')),
  constraint integrations_descriptor_is_an_object check (json_typeof(descriptor) = 'object'),
  constraint integrations_secrets_are_of_pushes check (signing_secret is null or transport = 'push_webhook'),
  constraint integrations_active_push_has_a_secret check (
    transport <> 'push_webhook' or status <> 'active' or signing_secret is not null),
  constraint integrations_previous_secret_has_a_successor check (
    previous_signing_secret is null or signing_secret is not null),
  constraint integrations_pull_secret_has_an_origin check (pull_secret is null or pull_origin is not null),
  constraint integrations_intervals_are_of_polls check (pull_interval_seconds is null or transport = 'pull_poll'),
  constraint integrations_interval_is_at_least_30 check (pull_interval_seconds >= 30),
  constraint integrations_polls_are_due_while_active check (
    (next_poll_at is not null) = (transport = 'pull_poll' and status = 'active')),
  constraint integrations_failures_are_counted check (consecutive_failures >= 0),
  constraint integrations_error_goes_with_failures check ((last_poll_error is null) = (consecutive_failures = 0)),
  constraint integrations_error_is_a_kind check (char_length(last_poll_error) <= 100)
)
with (fillfactor = 70);

-- A tenant's list, newest first.
create index integrations_of_tenant on integrations (program_id, environment, created_at desc, id desc);

-- What is due next.
create index integrations_due on integrations (next_poll_at) where next_poll_at is not null;
