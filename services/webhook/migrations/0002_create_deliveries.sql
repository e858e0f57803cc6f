-- Events that were taken in, their bodies on the way to endpoints, and every send.

-- One row for each event that the stream brought, whether or not an endpoint wanted it: what comes again changes nothing.
create table taken_events (
  id uuid not null,
  taken_at timestamptz(3) not null,
  constraint taken_events_pkey primary key (id)
);

create index taken_events_by_age on taken_events (taken_at);

create table deliveries (
  -- X-Webhook-Delivery-Id.
  id uuid not null,
  endpoint_id uuid not null,
  -- The event's id; a test has one of its own.
  event_id uuid not null,
  event_type text not null,
  -- Whose event; null for a test.
  program_id uuid,
  environment text,
  -- The bytes that are sent, frozen; signed at each send with the secret of that moment.
  body bytea not null,
  -- The delivery that a person asked to send again; null for an event's own.
  resend_of uuid,
  status text not null,
  -- Sends that were begun: raised before each of them, so that no crash can make a fourth.
  attempts integer not null default 0,
  -- When the next send is due; null when none is.
  next_attempt_at timestamptz(3),
  -- When the send of number `attempts` began whose end is not known; null when there is none.
  sending_since timestamptz(3),
  -- Until then somebody is sending it; after that whoever did has died, and anybody may go on.
  leased_until timestamptz(3),
  -- When it was closed because its endpoint was off; null when it was not.
  closed_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint deliveries_pkey primary key (id),
  constraint deliveries_endpoint_id_fkey foreign key (endpoint_id) references endpoints (id),
  constraint deliveries_status_is_known check (status in ('pending', 'delivered', 'failed')),
  constraint deliveries_environment_is_known check (environment in ('test', 'live')),
  constraint deliveries_belong_to_a_tenant check ((program_id is null) = (environment is null)),
  constraint deliveries_are_sent_at_most_three_times check (attempts between 0 and 3),
  constraint deliveries_wait_only_while_pending check ((status = 'pending') = (next_attempt_at is not null)),
  constraint deliveries_are_leased_only_while_pending check (leased_until is null or status = 'pending'),
  constraint deliveries_are_leased_for_a_send check ((leased_until is null) = (sending_since is null)),
  constraint deliveries_leased_were_begun check (leased_until is null or attempts > 0),
  constraint deliveries_closed_have_failed check (closed_at is null or status = 'failed'),
  constraint deliveries_delivered_were_sent check (status <> 'delivered' or attempts > 0)
)
with (fillfactor = 70);

-- An event is delivered to an endpoint once; what a person sends again is another matter.
create unique index deliveries_one_per_endpoint_and_event on deliveries (endpoint_id, event_id) where resend_of is null;

-- What is due, by endpoint: small, since only what is pending is in it.
create index deliveries_due on deliveries (endpoint_id, next_attempt_at) where status = 'pending';

-- The log, newest first.
create index deliveries_log on deliveries (endpoint_id, created_at desc, id desc);

create index deliveries_by_age on deliveries (created_at);

-- Every send that has ended, and every one of which it is known that its end never will be ('interrupted': no duration and no result).
create table delivery_attempts (
  delivery_id uuid not null,
  number integer not null,
  started_at timestamptz(3) not null,
  duration_ms double precision,
  -- Phases of it, where they were reached: resolving, connecting with TLS, waiting for the answer's head, reading its body.
  dns_ms double precision,
  connect_ms double precision,
  wait_ms double precision,
  read_ms double precision,
  http_status integer,
  error_kind text,
  error text,
  response_excerpt text,
  constraint delivery_attempts_pkey primary key (delivery_id, number),
  constraint delivery_attempts_delivery_id_fkey foreign key (delivery_id) references deliveries (id) on delete cascade,
  constraint delivery_attempts_number_is_one_of_three check (number between 1 and 3),
  constraint delivery_attempts_excerpt_length check (char_length(response_excerpt) <= 1000),
  constraint delivery_attempts_status_is_http check (http_status between 100 and 999)
);
