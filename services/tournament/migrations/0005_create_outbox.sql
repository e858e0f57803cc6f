-- Events on their way to the stream: written in the commit that makes each of them true, and deleted once it was taken from there.

create table outbox (
  -- Derives from what happened to what, so that the same fact is one event.
  event_id uuid not null,
  -- laurel.events.v1.Event
  payload bytea not null,
  -- When it was last handed to the stream, by this database's clock.
  published_at timestamptz(3) not null default clock_timestamp(),
  constraint outbox_pkey primary key (event_id)
);

-- What the relay looks for: the oldest that may have been lost on their way.
create index outbox_by_publication on outbox (published_at);
